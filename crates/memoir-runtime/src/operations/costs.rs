//! What calls of models have cost.

use memoir_core::{ConversationId, Purpose, TimeZone, Timestamp, Usage, Usd};
use memoir_store::{CostFilter, CostLine, CostSummary, Costs};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Which costs to add up.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct CostRequest {
    /// A conversation to report on, besides today and everything.
    pub conversation: Option<ConversationId>,
}

/// Costs by period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostReport {
    /// The conversation that was asked for.
    pub conversation: Option<ConversationCosts>,
    /// Everything since midnight.
    pub today: CostBreakdown,
    /// Everything.
    pub all: CostBreakdown,
}

/// The costs of one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConversationCosts {
    /// The conversation.
    pub id: ConversationId,
    /// Its costs.
    #[serde(flatten)]
    pub costs: CostBreakdown,
}

/// A sum, and what it consists of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostBreakdown {
    /// The sum of `lines`.
    pub total: CostTotal,
    /// Costs by purpose and model, the most expensive first.
    pub lines: Vec<CostEntry>,
}

/// The calls of one model for one purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostEntry {
    /// What they were for.
    pub purpose: Purpose,
    /// The model that was called.
    pub model: String,
    /// Their sum.
    #[serde(flatten)]
    pub total: CostTotal,
}

/// A sum over calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CostTotal {
    /// Number of calls.
    pub calls: u64,
    /// Tokens that they used.
    pub usage: Usage,
    /// Cost of the calls whose price is known.
    #[serde(rename = "cost_usd")]
    pub cost: Usd,
    /// Number of calls whose price is unknown.
    pub unpriced_calls: u64,
}

impl From<CostSummary> for CostTotal {
    fn from(CostSummary { calls, usage, cost, unpriced_calls }: CostSummary) -> Self {
        Self { calls, usage, cost, unpriced_calls }
    }
}

impl From<Vec<CostLine>> for CostBreakdown {
    fn from(lines: Vec<CostLine>) -> Self {
        let total: CostSummary = lines.iter().map(|line| line.summary).sum();
        let lines = lines.into_iter().map(|CostLine { purpose, model, summary }| CostEntry {
            purpose,
            model,
            total: summary.into(),
        });
        Self { total: total.into(), lines: lines.collect() }
    }
}

/// Adds up costs: of a conversation, of today in `zone`, and of everything.
///
/// # Errors
///
/// Fails if the store does.
pub async fn add_up(
    request: &CostRequest,
    store: &(impl Costs + ?Sized),
    now: Timestamp,
    zone: &TimeZone,
) -> Result<CostReport, Failure> {
    let conversation = match request.conversation {
        Some(id) => {
            let filter = CostFilter { since: None, conversation: Some(id) };
            Some(ConversationCosts { id, costs: store.cost_lines(&filter).await?.into() })
        }
        None => None,
    };
    let today = CostFilter { since: Some(now.start_of_day(zone)), conversation: None };
    Ok(CostReport {
        conversation,
        today: store.cost_lines(&today).await?.into(),
        all: store.cost_lines(&CostFilter::default()).await?.into(),
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::operations::test_support::{NOW, store_with};

    #[test]
    fn a_breakdown_adds_up_its_lines() {
        let line = |model: &str, nanos, unpriced_calls| CostLine {
            purpose: Purpose::Chat,
            model: model.into(),
            summary: CostSummary {
                calls: 1,
                usage: Usage { input_tokens: 10, ..Usage::default() },
                cost: Usd::from_nanos(nanos),
                unpriced_calls,
            },
        };
        let costs = CostBreakdown::from(vec![line("a", 2_000_000_000, 0), line("b", 0, 1)]);
        let conversation = ConversationCosts { id: ConversationId::new(3), costs };
        let form = serde_json::to_value(&conversation).unwrap();
        assert_eq!(form["id"], 3);
        assert_eq!(form["total"]["calls"], 2);
        assert_eq!(form["total"]["usage"]["input_tokens"], 20);
        assert_eq!(form["total"]["cost_usd"], 2.0);
        assert_eq!(form["total"]["unpriced_calls"], 1);
        assert_eq!(form["lines"][1]["model"], "b");
        assert_eq!(form["lines"][1]["purpose"], "chat");
        assert_eq!(form["lines"][0]["cost_usd"], 2.0);
    }

    #[tokio::test]
    async fn without_a_conversation_there_is_none_in_the_report() {
        let (store, _) = store_with(&[]).await;
        let report = add_up(&CostRequest::default(), &store, NOW, &TimeZone::UTC).await.unwrap();
        assert_eq!(serde_json::to_value(&report).unwrap()["conversation"], json!(null));
        assert_eq!(report.all.total.calls, 0);
    }
}
