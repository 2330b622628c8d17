//! The resources that tools use.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_core::ConversationId;
use memoir_recall::{Recall, ScopeRule};
use memoir_store::ToolStore;

use crate::{
    Access, Sandbox, Search, SubagentRunner, ToolError, Workspace, protected::protected_below,
    workspace::ResolvedPath,
};

/// Returns whether the user's rules deny a path to a tool.
pub type DeniedPaths = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// What a running call reports to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallReport {
    /// How far it is, in the tool's own words.
    Progress(String),
    /// The last lines of its output.
    Output(String),
}

/// Receives what a running call reports.
pub type Reporter = Arc<dyn Fn(CallReport) + Send + Sync>;

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
    /// Shows to the user what the call reports, if anyone is watching.
    pub reporter: Option<Reporter>,
}

impl ToolContext {
    /// Allows sub-agents, run by `subagents`.
    pub fn with_subagents(mut self, subagents: Arc<dyn SubagentRunner>) -> Self {
        self.subagents = Some(subagents);
        self
    }

    /// Reports the progress of the call.
    pub fn report_progress(&self, text: &str) {
        if let Some(report) = &self.reporter {
            report(CallReport::Progress(text.to_owned()));
        }
    }

    /// Returns whether a rule denies a path to the tool.
    pub(crate) fn denies(&self, path: &Path) -> bool {
        self.denied.as_ref().is_some_and(|denies| denies(path))
    }

    /// Returns what a call that moves or deletes a path also changes: one of the protected paths in it, because one
    /// question is enough.
    ///
    /// # Errors
    ///
    /// Fails if a rule denies one of the paths in it to the tool.
    pub(crate) fn check_contents(&self, path: &ResolvedPath) -> Result<Option<Access>, ToolError> {
        let find = |is_wanted: &dyn Fn(&Path) -> bool| {
            find_below(path, is_wanted).map_err(|error| {
                ToolError::Failed(format!("cannot check what is in {}: {error}", path.real.display()))
            })
        };
        if self.denied.is_some()
            && let Some(denied) = find(&|path| self.denies(path))?
        {
            return Err(ToolError::Failed(format!("a rule denies it, because of {}", denied.display())));
        }
        Ok(find(&protected_below(self.workspace.project()))?.map(Access::Write))
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
            reporter: None,
        })
    }
}

/// Returns a path that is wanted in a directory, at any depth.
fn find_below(directory: &ResolvedPath, is_wanted: &dyn Fn(&Path) -> bool) -> io::Result<Option<PathBuf>> {
    if !directory.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(None);
    }
    for (name, metadata) in directory.entries()? {
        let entry = directory.below(Path::new(&name));
        if is_wanted(&entry.real) {
            return Ok(Some(entry.real));
        }
        if metadata.is_dir()
            && let Some(found) = find_below(&entry, is_wanted)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
