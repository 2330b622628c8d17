//! The command history: every line typed or sent, before anything is done with it.

use async_trait::async_trait;
use memoir_core::Timestamp;

use crate::Result;

/// Writing and reading the command history.
#[async_trait]
pub trait CommandHistory: Send + Sync {
    /// Adds a line. A repetition of the last line is not added twice.
    async fn append_command(&self, line: &str, now: Timestamp) -> Result<()>;

    /// Returns the last `limit` lines, in the order in which they were added.
    async fn recent_commands(&self, limit: u32) -> Result<Vec<String>>;
}
