//! What was spent. Rows are written with the exchange they belong to (see [`crate::Exchanges`]).

use async_trait::async_trait;
use memoir_core::{ConversationId, Usage, Usd};

use crate::Result;

/// Calls added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CostSummary {
    /// How many calls.
    pub calls: u64,
    /// Their tokens.
    pub usage: Usage,
    /// The cost of those whose price is known.
    pub cost: Usd,
    /// How many had no known price.
    pub unpriced_calls: u64,
}

/// Adding up costs.
#[async_trait]
pub trait Costs: Send + Sync {
    /// What a conversation has cost so far.
    async fn conversation_cost(&self, conversation: ConversationId) -> Result<CostSummary>;
}
