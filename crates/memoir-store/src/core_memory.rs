//! Core memory: short texts that are in every request. Changes can be undone.

use async_trait::async_trait;
use memoir_core::{CoreChange, CoreEntry, Timestamp};

use crate::Result;

/// Whether a change was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was.
    Made,
    /// The block was changed by someone else meanwhile, and stands as that one left it.
    Overtaken,
}

/// Reading and changing core memory.
#[async_trait]
pub trait CoreMemory: Send + Sync {
    /// All blocks as they stand for a project, in their order.
    async fn core_memory(&self, project: &str) -> Result<Vec<CoreEntry>>;

    /// Changes a block, unless it is not what was seen any more.
    async fn change_core_memory(&self, project: &str, change: &CoreChange) -> Result<Change>;

    /// Takes back the last change of any block of a project's, and tells what that block says now.
    async fn undo_core_memory(&self, project: &str, at: Timestamp) -> Result<Option<CoreEntry>>;
}
