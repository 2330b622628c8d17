//! The resources that tools use.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_core::ConversationId;
use memoir_recall::{Recall, ScopeRule};
use memoir_store::ToolStore;

use crate::{Sandbox, Search, SubagentRunner, ToolError, Workspace};

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

    /// Returns the project to which memory is limited (`rag.scope = "only"`).
    pub(crate) fn only_project(&self) -> Option<&str> {
        self.recall.scope.as_deref().filter(|_| self.recall.settings.scope == ScopeRule::Only)
    }

    /// Fails if memory is limited to a project and the conversation belongs to another one.
    pub(crate) async fn check_scope(&self, id: ConversationId) -> Result<(), ToolError> {
        let Some(project) = self.only_project() else { return Ok(()) };
        match self.store.conversation(id).await? {
            Some(conversation) if conversation.scope != project => Err(ToolError::Failed(format!(
                "conversation {id} belongs to another project, and `rag.scope` limits memory to this one"
            ))),
            _ => Ok(()),
        }
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
