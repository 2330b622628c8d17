//! Errors in a config file.

use memoir_core::setting::SettingError;
use memoir_models::Provider;

/// An error in a config file. The message does not name the file; the caller adds it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The text is not valid TOML, or contains an unknown table or key.
    #[error("{}{message}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Syntax {
        /// Line number of the error, starting at 1, if known.
        line: Option<usize>,
        /// The message of the TOML parser.
        message: String,
    },
    /// Something at the top level is not a table.
    #[error("\"{0}\" is not a table")]
    NotATable(String),
    /// A project config contains a setting that is only allowed in the user config.
    #[error(
        "a project may not set {0}, only rag.*, context.*, chat.model, chat.reasoning, approval.deny, and \
         approval.mode to read-only. Set the rest in your user config"
    )]
    NotForProjects(String),
    /// `[providers.NAME]` names a provider that does not exist.
    #[error("there is no provider \"{0}\"; the providers are {known}", known = Provider::ALL.map(Provider::as_str).join(", "))]
    UnknownProvider(String),
    /// A model name under `[[model]]` starts with a provider.
    #[error("the model name \"{0}\" must not include the provider")]
    ModelWithProvider(String),
    /// `calls.idle_timeout_ms` is 0.
    #[error("idle_timeout_ms must be greater than 0")]
    NoIdleTimeout,
    /// A setting of recall, context or workers does not exist or has an invalid value.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// An approval mode, a permission rule or a model name cannot be parsed.
    #[error("{0}")]
    Value(String),
}
