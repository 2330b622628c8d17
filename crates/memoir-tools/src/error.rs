//! Errors of tools, worded for the model.

use std::path::PathBuf;

use memoir_store::StoreError;

/// Why a tool failed. The text is sent to the model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// There is no tool with this name.
    #[error("there is no tool \"{0}\"")]
    Unknown(String),
    /// The arguments do not match the schema.
    #[error("invalid arguments: {0}")]
    Arguments(String),
    /// The path leads out of the workspace.
    #[error("{} is outside the workspace", .0.display())]
    OutsideWorkspace(PathBuf),
    /// The store could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A sub-agent returned no report.
    #[error(transparent)]
    Delegation(#[from] DelegationError),
    /// The tool ran and failed.
    #[error("{0}")]
    Failed(String),
}

/// A name that does not belong to any tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool {0}")]
pub struct UnknownTool(pub String);

/// Why a sub-agent did not return a report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DelegationError {
    /// The task names a tool that does not exist.
    #[error(transparent)]
    UnknownTool(#[from] UnknownTool),
    /// The sub-agent ended with an error.
    #[error(transparent)]
    Agent(Box<dyn std::error::Error + Send + Sync>),
}
