//! What has changed since a moment, for programs that show the memory and keep up with it.

use async_trait::async_trait;

use crate::{CommittedExchange, Result};

/// A moment in the history of a store. Only the store that returned it can read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeMark {
    /// The last exchange.
    pub exchange: i64,
    /// Changes of documents so far.
    pub documents: i64,
    /// Deletions so far.
    pub deletions: i64,
}

/// What has changed since a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// Exchanges that were committed and still exist, at most as many as were asked for.
    pub exchanges: Vec<CommittedExchange>,
    /// The moment after the last of these changes.
    pub mark: ChangeMark,
}

/// Returns what has changed.
#[async_trait]
pub trait ChangeLog: Send + Sync {
    /// Returns the present moment.
    async fn change_mark(&self) -> Result<ChangeMark>;

    /// Returns what has changed since a moment. If there are more than `limit` exchanges, the next call returns the others.
    async fn changes_since(&self, mark: ChangeMark, limit: u32) -> Result<Changes>;
}
