//! The resources that tools use.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_core::ConversationId;
use memoir_recall::{Recall, ScopeRule};
use memoir_store::ToolStore;

use crate::{Sandbox, Search, SubagentRunner, ToolError, Workspace, workspace::ResolvedPath};

/// Returns whether the user's rules deny a path to a tool.
pub type DeniedPaths = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

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
    /// Paths that the called tool must not visit, if there are any.
    pub denied: Option<DeniedPaths>,
}

impl ToolContext {
    /// Allows sub-agents, run by `subagents`.
    pub fn with_subagents(mut self, subagents: Arc<dyn SubagentRunner>) -> Self {
        self.subagents = Some(subagents);
        self
    }

    /// Returns whether a rule denies a path to the tool.
    pub(crate) fn denies(&self, path: &Path) -> bool {
        self.denied.as_ref().is_some_and(|denies| denies(path))
    }

    /// Fails if a rule denies a path to the tool that is in a directory, at any depth.
    pub(crate) fn check_contents(&self, directory: &ResolvedPath) -> Result<(), ToolError> {
        if self.denied.is_none() || !directory.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Ok(());
        }
        let failed = |error: io::Error| {
            ToolError::Failed(format!("cannot check {} against the rules: {error}", directory.real.display()))
        };
        for (name, metadata) in directory.entries().map_err(failed)? {
            let entry = directory.below(Path::new(&name));
            if self.denies(&entry.real) {
                return Err(ToolError::Failed(format!(
                    "a rule denies it, because of {}",
                    entry.real.display()
                )));
            }
            if metadata.is_dir() {
                self.check_contents(&entry)?;
            }
        }
        Ok(())
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
            denied: None,
        })
    }
}
