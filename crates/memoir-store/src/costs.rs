//! What was spent. The rows of an exchange are written with it (see [`crate::Exchanges`]).

use async_trait::async_trait;
use memoir_core::{CallCost, ConversationId, Purpose, Timestamp, Usage, Usd};

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

impl std::iter::Sum for CostSummary {
    fn sum<I: Iterator<Item = Self>>(summaries: I) -> Self {
        summaries.fold(Self::default(), |sum, next| Self {
            calls: sum.calls + next.calls,
            usage: sum.usage + next.usage,
            cost: sum.cost + next.cost,
            unpriced_calls: sum.unpriced_calls + next.unpriced_calls,
        })
    }
}

/// Which calls to add up.
#[derive(Debug, Clone, Copy, Default)]
pub struct CostFilter {
    /// Only those since then.
    pub since: Option<Timestamp>,
    /// Only those of this conversation.
    pub conversation: Option<ConversationId>,
}

/// Calls of one purpose and model, added up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostLine {
    /// What they were for.
    pub purpose: Purpose,
    /// Who was called.
    pub model: String,
    /// Their sum.
    pub summary: CostSummary,
}

/// Noting and adding up costs.
#[async_trait]
pub trait Costs: Send + Sync {
    /// Notes calls that belong to no exchange, such as those of a turn that failed: they were paid for.
    async fn record_calls(&self, conversation: Option<ConversationId>, calls: &[CallCost]) -> Result<()>;

    /// What was spent, by purpose and model, the dearest first.
    async fn cost_lines(&self, filter: &CostFilter) -> Result<Vec<CostLine>>;

    /// What a conversation has cost so far.
    async fn conversation_cost(&self, conversation: ConversationId) -> Result<CostSummary>;
}
