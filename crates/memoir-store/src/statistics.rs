//! Counts over the whole memory, for charts and for lists to choose from.

use async_trait::async_trait;
use memoir_core::{Timestamp, Usd};

use crate::Result;

/// What happened in a quarter of an hour. All time zones begin their days at the beginning of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivityCount {
    /// Beginning of the quarter.
    pub start: Timestamp,
    /// Number of exchanges that started in it.
    pub exchanges: u64,
    /// Number of messages of these exchanges.
    pub messages: u64,
    /// Number of tokens of the calls of models in it.
    pub tokens: u64,
    /// Cost of those calls whose price is known.
    pub cost: Usd,
}

impl ActivityCount {
    /// Length of the periods in milliseconds.
    pub const MILLIS: i64 = 15 * 60 * 1000;
}

/// Counts what is stored.
#[async_trait]
pub trait Statistics: Send + Sync {
    /// Returns the activity since a moment, in order. Periods without any are missing.
    async fn activity(&self, since: Timestamp) -> Result<Vec<ActivityCount>>;

    /// Returns the projects that have conversations, sorted.
    async fn projects(&self) -> Result<Vec<String>>;

    /// Returns the names of the other programs in which exchanges took place, sorted.
    async fn programs(&self) -> Result<Vec<String>>;
}
