//! What tools have access to.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_recall::Recall;
use memoir_store::ToolStore;

use crate::{Delegating, Sandbox, Search, Workspace};

/// What tools have access to: the workspace they are confined to, memory, and optional services.
#[derive(Clone)]
pub struct ToolContext {
    /// The directories that tools are confined to.
    pub workspace: Workspace,
    /// Memory.
    pub store: Arc<dyn ToolStore>,
    /// Searches memory.
    pub recall: Recall,
    /// Runs commands.
    pub sandbox: Sandbox,
    /// Searches the internet, if a service is configured.
    pub search: Option<Search>,
    /// Runs sub-agents, where they are allowed.
    pub delegate: Option<Arc<dyn Delegating>>,
}

impl ToolContext {
    /// Allows sub-agents.
    pub fn delegating(mut self, delegate: Arc<dyn Delegating>) -> Self {
        self.delegate = Some(delegate);
        self
    }

    /// Creates a context that is confined to `project` and `further` directories.
    ///
    /// # Errors
    ///
    /// Fails if one of the directories does not exist or cannot be opened.
    pub fn new(
        project: &Path,
        further: &[PathBuf],
        store: Arc<dyn ToolStore>,
        recall: Recall,
    ) -> io::Result<Self> {
        Ok(Self {
            workspace: Workspace::new(project, further)?,
            store,
            recall,
            sandbox: Sandbox::default(),
            search: None,
            delegate: None,
        })
    }
}
