//! What was added from memory to the prompts of other programs.

use async_trait::async_trait;
use memoir_core::{ExchangeId, InjectedItem, Injection};

use crate::Result;

/// Stores and reads injections.
#[async_trait]
pub trait Injections: Send + Sync {
    /// Stores an injection. Items that have been deleted meanwhile are left out, and only the latest injections are
    /// kept.
    async fn record_injection(&self, injection: &Injection) -> Result<()>;

    /// Returns the latest injections, newest first: those of one project, or all.
    async fn injections(&self, scope: Option<&str>, limit: u32) -> Result<Vec<Injection>>;

    /// Returns what recall added to the prompt of an exchange, best first. Leaves out what has been deleted since.
    async fn recalled_for(&self, exchange: ExchangeId) -> Result<Vec<InjectedItem>>;
}
