//! What the user says about exchanges.

use async_trait::async_trait;
use memoir_core::{ExchangeId, Mark, Marked, Timestamp};

use crate::Result;

/// Marking exchanges.
#[async_trait]
pub trait Marks: Send + Sync {
    /// Marks an exchange, or takes its mark away. Says whether there is such an exchange.
    async fn mark(&self, exchange: ExchangeId, mark: Option<Mark>, at: Timestamp) -> Result<bool>;

    /// The marks of some exchanges.
    async fn marks_of(&self, exchanges: &[ExchangeId]) -> Result<Vec<Marked>>;

    /// All marks, newest first.
    async fn marks(&self) -> Result<Vec<Marked>>;
}
