//! Mistakes in a configuration file.

use memoir_core::setting::SettingError;
use memoir_models::Provider;

/// A mistake in a configuration file. The messages name the mistake; the caller names the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The text is not TOML, or has a table or key that does not exist.
    #[error("{}{message}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Syntax {
        /// Line of the mistake, from 1, where it is known.
        line: Option<usize>,
        /// The parser's message.
        message: String,
    },
    /// Something at the top level is not a table.
    #[error("\"{0}\" is no table")]
    NotATable(String),
    /// A project's file sets something that only the user may set.
    #[error(
        "a project may not set {0}; it may set rag.*, context.*, chat.model, chat.reasoning, \
         approval.deny, and approval.mode to read-only. The rest belongs in your own file"
    )]
    NotForProjects(String),
    /// `[providers.NAME]` names a provider that does not exist.
    #[error("there is no provider \"{0}\"; there are {known}", known = Provider::ALL.map(Provider::as_str).join(", "))]
    UnknownProvider(String),
    /// The name of a model in `[[model]]` starts with a provider.
    #[error("the name of a model stands without its provider, and \"{0}\" has one")]
    ModelWithProvider(String),
    /// `calls.idle_timeout_ms` is 0.
    #[error("idle_timeout_ms must be more than 0")]
    NoIdleTimeout,
    /// A setting of recall, context or workers does not exist or has a wrong value.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// An approval mode, a rule or the name of a model cannot be parsed.
    #[error("{0}")]
    Value(String),
}
