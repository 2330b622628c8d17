//! Why a rule cannot be parsed.

/// Why a rule cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The closing bracket is missing.
    #[error("\"{0}\" lacks its closing bracket")]
    Unclosed(String),
    /// Rules are stored and shown, so they must not contain secrets.
    #[error("a rule must not hold a secret")]
    Secret,
    /// What stands in front of the bracket cannot be the name of a tool.
    #[error("\"{0}\" is no tool's name")]
    NoTool(String),
    /// The pattern of paths is malformed.
    #[error("\"{what}\" is no pattern of paths: {source}")]
    Pattern {
        /// The pattern.
        what: String,
        /// What is wrong with it.
        source: globset::Error,
    },
    /// Only plain commands can be allowed.
    #[error("\"{0}\" is no plain command: one program and its arguments")]
    NotPlain(String),
    /// A denied command must name at least one word.
    #[error("\"{0}\" names no command")]
    NoCommand(String),
}
