//! How programs that send a whole conversation with each request continue it.

use async_trait::async_trait;
use memoir_core::ExchangeId;

use crate::{CommittedExchange, Result};

/// Finds exchanges by keys that programs can repeat, such as a hash of the conversation up to them.
#[async_trait]
pub trait Continuations: Send + Sync {
    /// Returns the exchange with this key.
    async fn continuation(&self, key: &str) -> Result<Option<CommittedExchange>>;

    /// Gives an exchange keys, which no longer lead to other exchanges. They are deleted with it.
    async fn put_continuations(&self, exchange: ExchangeId, keys: &[String]) -> Result<()>;
}
