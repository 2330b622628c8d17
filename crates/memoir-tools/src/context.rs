//! What tools work with.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_recall::Recall;
use memoir_store::Store;

use crate::ToolError;

/// What tools work with: the workspace they are confined to, and memory.
#[derive(Clone)]
pub struct ToolContext {
    workspace: PathBuf,
    /// Memory.
    pub store: Arc<dyn Store>,
    /// How it is asked.
    pub recall: Recall,
}

impl ToolContext {
    /// A context confined to `workspace`, which must exist.
    pub fn new(workspace: &Path, recall: Recall) -> io::Result<Self> {
        Ok(Self { workspace: workspace.canonicalize()?, store: Arc::clone(&recall.store), recall })
    }

    /// The project that tools work in.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The real path of an existing file in the workspace, symbolic links resolved.
    pub(crate) fn existing_path(&self, path: &str) -> Result<PathBuf, ToolError> {
        let real = self
            .workspace
            .join(path)
            .canonicalize()
            .map_err(|error| ToolError::Failed(format!("cannot open {path}: {error}")))?;
        if real.starts_with(&self.workspace) {
            Ok(real)
        } else {
            Err(ToolError::OutsideWorkspace(path.into()))
        }
    }
}
