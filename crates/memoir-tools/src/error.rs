//! Why a tool gave nothing, in words for the model.

use std::path::PathBuf;

/// Why a tool gave nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// There is no tool of that name.
    #[error("there is no tool \"{0}\"")]
    Unknown(String),
    /// The arguments do not fit the schema.
    #[error("the arguments do not fit: {0}")]
    Arguments(String),
    /// The path leads out of the workspace.
    #[error("{} is outside the workspace", .0.display())]
    OutsideWorkspace(PathBuf),
    /// It was tried and did not work.
    #[error("{0}")]
    Failed(String),
}
