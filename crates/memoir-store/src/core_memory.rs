//! Core memory: short texts that are part of every request. Changes can be undone.

use async_trait::async_trait;
use memoir_core::{CoreChange, CoreEntry, Timestamp};

use crate::Result;

/// The result of changing a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// The change was stored.
    Applied,
    /// Another session changed the block first, so the change was not stored.
    Conflict,
}

/// Reads and changes core memory.
#[async_trait]
pub trait CoreMemory: Send + Sync {
    /// Returns all blocks as `project` sees them, in the order of [`CoreBlock::ALL`](memoir_core::CoreBlock::ALL).
    async fn core_memory(&self, project: &str) -> Result<Vec<CoreEntry>>;

    /// Changes a block if it is still at the version in `change.previous`.
    async fn change_core_memory(&self, project: &str, change: &CoreChange) -> Result<ChangeOutcome>;

    /// Undoes the latest change to any block that `project` sees. Returns the restored block, or `None` if there is
    /// nothing to undo.
    async fn undo_core_memory(&self, project: &str, at: Timestamp) -> Result<Option<CoreEntry>>;
}
