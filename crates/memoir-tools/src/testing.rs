//! Shared fixtures for the tests of tools.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_core::{SystemClock, TimeZone};
use memoir_embed::LocalEmbedder;
use memoir_recall::Recall;
use memoir_store_sqlite::SqliteStore;
use serde_json::Value;
use tempfile::TempDir;

use crate::{Plan, Tool, ToolContext, ToolError, Variables};

/// Creates a context for tools in `workspace` that uses `store`.
pub(crate) fn context(workspace: &Path, store: SqliteStore) -> ToolContext {
    let store = Arc::new(store);
    let recall = Recall::new(store.clone(), Arc::new(LocalEmbedder), Arc::new(SystemClock), TimeZone::UTC);
    ToolContext::new(workspace, &[], store, recall).unwrap()
}

/// Returns an environment with a `PATH`, so that commands find programs.
pub(crate) fn path() -> Variables {
    let path = ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
    Variables::without_keys(std::iter::once(path), Vec::new())
}

/// A temporary workspace, inside a directory that tools must not access.
pub(crate) struct Bench {
    directory: TempDir,
    pub(crate) store: SqliteStore,
    pub(crate) context: ToolContext,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        let directory = TempDir::new().unwrap();
        std::fs::create_dir(directory.path().join("work")).unwrap();
        let store = SqliteStore::open(&directory.path().join("memory/memoir.db")).await.unwrap();
        let context = context(&directory.path().join("work"), store.clone());
        Self { directory, store, context }
    }

    /// Creates a bench whose commands have a `PATH`.
    pub(crate) async fn with_commands() -> Self {
        let mut bench = Self::new().await;
        bench.context.sandbox.variables = path();
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join("work").join(name)
    }

    pub(crate) fn file(&self, name: &str, content: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) async fn plan(&self, tool: &dyn Tool, arguments: &Value) -> Result<Plan, ToolError> {
        tool.plan(arguments, &self.context).await
    }

    pub(crate) async fn run(&self, tool: &dyn Tool, arguments: Value) -> Result<String, ToolError> {
        tool.run(arguments, &self.context).await.map(|output| output.text)
    }
}
