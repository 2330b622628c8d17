//! The user's marks on exchanges, such as "pinned" and "wrong".

use async_trait::async_trait;
use memoir_core::{ExchangeId, ExchangeMark, Mark, Timestamp};

use crate::Result;

/// Stores and reads marks.
#[async_trait]
pub trait Marks: Send + Sync {
    /// Sets the mark of an exchange, or removes it. Returns whether the exchange exists.
    async fn set_mark(&self, exchange: ExchangeId, mark: Option<Mark>, at: Timestamp) -> Result<bool>;

    /// Returns the marks of these exchanges.
    async fn exchange_marks(&self, exchanges: &[ExchangeId]) -> Result<Vec<ExchangeMark>>;

    /// Returns all marks, newest first.
    async fn marks(&self) -> Result<Vec<ExchangeMark>>;
}
