//! A context for tests.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::{path::Path, sync::Arc};

use memoir_core::{SystemClock, TimeZone};
use memoir_embed::LocalEmbedder;
use memoir_recall::Recall;
use memoir_store::sqlite::SqliteStore;

use crate::ToolContext;

/// Tools in `workspace`, with this memory.
pub(crate) fn context(workspace: &Path, store: SqliteStore) -> ToolContext {
    let recall = Recall::new(Arc::new(store), Arc::new(LocalEmbedder), Arc::new(SystemClock), TimeZone::UTC);
    ToolContext::new(workspace, recall).unwrap()
}
