//! The resources that tools use.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_recall::Recall;
use memoir_store::ToolStore;

use crate::{Sandbox, Search, SubagentRunner, Workspace};

/// The resources that tools use: the workspace, memory, and optional services.
#[derive(Clone)]
pub struct ToolContext {
    /// Directories that file tools are confined to.
    pub workspace: Workspace,
    /// Database behind the tools that read and change memory.
    pub store: Arc<dyn ToolStore>,
    /// Recall for the tools that search memory.
    pub recall: Recall,
    /// Runs and confines commands.
    pub sandbox: Sandbox,
    /// Internet search service, if one is configured.
    pub search: Option<Search>,
    /// Runs sub-agents, if they are allowed.
    pub subagents: Option<Arc<dyn SubagentRunner>>,
}

impl ToolContext {
    /// Allows sub-agents, run by `subagents`.
    pub fn with_subagents(mut self, subagents: Arc<dyn SubagentRunner>) -> Self {
        self.subagents = Some(subagents);
        self
    }

    /// Creates a context whose workspace consists of `project` and further directories.
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
            subagents: None,
        })
    }
}
