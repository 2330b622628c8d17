//! The command history: every line that the user typed or sent, recorded before it is processed.

use async_trait::async_trait;
use memoir_core::Timestamp;

use crate::Result;

/// Stores and reads the command history.
#[async_trait]
pub trait CommandHistory: Send + Sync {
    /// Adds a line, unless it repeats the last one.
    async fn append_command(&self, line: &str, now: Timestamp) -> Result<()>;

    /// Returns the last `limit` lines, oldest first.
    async fn recent_commands(&self, limit: u32) -> Result<Vec<String>>;
}
