//! What tools work with.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_recall::Recall;
use memoir_store::Store;

use crate::{Delegating, Sandbox, Search, Workspace};

/// What tools work with: the workspace they are confined to, memory, and what is set up for them.
#[derive(Clone)]
pub struct ToolContext {
    /// Where files may be touched.
    pub workspace: Workspace,
    /// Memory.
    pub store: Arc<dyn Store>,
    /// How it is asked.
    pub recall: Recall,
    /// How commands are run.
    pub sandbox: Sandbox,
    /// Who searches the internet, if anyone.
    pub search: Option<Search>,
    /// Who has sub-agents, while one may be asked for.
    pub delegate: Option<Arc<dyn Delegating>>,
}

impl ToolContext {
    /// The same with someone who has sub-agents.
    pub fn delegating(mut self, delegate: Arc<dyn Delegating>) -> Self {
        self.delegate = Some(delegate);
        self
    }

    /// A context confined to `project`, which must exist, and to `further` folders.
    pub fn new(project: &Path, further: &[PathBuf], recall: Recall) -> io::Result<Self> {
        Ok(Self {
            workspace: Workspace::new(project, further)?,
            store: Arc::clone(&recall.store),
            recall,
            sandbox: Sandbox::default(),
            search: None,
            delegate: None,
        })
    }
}
