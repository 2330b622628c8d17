//! The cost of model calls. Committing an exchange records its calls (see [`crate::Exchanges`]).

use async_trait::async_trait;
use memoir_core::{CallCost, ConversationId, Purpose, Timestamp, Usage, Usd};

use crate::Result;

/// The totals of a set of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CostSummary {
    /// Number of calls, including those whose price is unknown.
    pub calls: u64,
    /// Tokens used by all calls.
    pub usage: Usage,
    /// Total cost of the calls whose price is known.
    pub cost: Usd,
    /// Number of calls whose price is unknown.
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

/// Restricts which calls are added up. The default selects all.
#[derive(Debug, Clone, Copy, Default)]
pub struct CostFilter {
    /// Only calls made at or after this time.
    pub since: Option<Timestamp>,
    /// Only calls made for this conversation.
    pub conversation: Option<ConversationId>,
}

/// The totals for one purpose and model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostLine {
    /// Purpose of the calls.
    pub purpose: Purpose,
    /// Model that was called.
    pub model: String,
    /// Totals of the calls.
    pub summary: CostSummary,
}

/// Records and adds up costs.
#[async_trait]
pub trait Costs: Send + Sync {
    /// Records calls that do not belong to an exchange, such as those of a failed turn, which still cost money.
    async fn record_calls(&self, conversation: Option<ConversationId>, calls: &[CallCost]) -> Result<()>;

    /// Returns the costs by purpose and model, most expensive first.
    async fn cost_lines(&self, filter: &CostFilter) -> Result<Vec<CostLine>>;

    /// Returns the total cost of a conversation so far.
    async fn conversation_cost(&self, conversation: ConversationId) -> Result<CostSummary>;
}
