//! Errors in permission rules.

/// Reason why a permission rule is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The closing parenthesis is missing.
    #[error("\"{0}\" has no closing parenthesis")]
    Unclosed(String),
    /// Rules are stored and shown, so they must not contain secrets.
    #[error("a rule must not contain a secret")]
    Secret,
    /// The tool name is not valid.
    #[error("\"{0}\" is not a tool name")]
    NoTool(String),
    /// The path pattern is not valid.
    #[error("\"{pattern}\" is not a path pattern: {source}")]
    Pattern {
        /// Text in the parentheses.
        pattern: String,
        /// Error of the pattern parser.
        source: globset::Error,
    },
    /// An allow rule can only contain a plain command.
    #[error("\"{0}\" is not a plain command, which is one program and its arguments")]
    NotPlain(String),
    /// A deny rule must contain at least one word of a command.
    #[error("\"{0}\" does not contain a command")]
    NoCommand(String),
}
