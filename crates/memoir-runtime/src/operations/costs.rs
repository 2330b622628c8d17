//! Adding up the costs of model calls.

use memoir_core::{ConversationId, Purpose, TimeZone, Timestamp, Usage, Usd};
use memoir_store::{CostFilter, CostLine, CostSummary, Costs};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Selects the costs to report.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct CostRequest {
    /// Conversation to report on, in addition to today and all time.
    pub conversation: Option<ConversationId>,
}

/// Costs of a conversation, of today and of all time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostReport {
    /// Costs of the requested conversation.
    pub conversation: Option<ConversationCosts>,
    /// Costs since midnight in the user's time zone.
    pub today: CostBreakdown,
    /// Costs of all recorded calls.
    pub all: CostBreakdown,
}

/// Costs of one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConversationCosts {
    /// Id of the conversation.
    pub id: ConversationId,
    /// Total and breakdown by purpose and model.
    #[serde(flatten)]
    pub costs: CostBreakdown,
}

/// A total and the entries that add up to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostBreakdown {
    /// Sum of `lines`.
    pub total: CostTotal,
    /// Costs by purpose and model, most expensive first.
    pub lines: Vec<CostEntry>,
}

/// Costs of the calls to one model for one purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostEntry {
    /// Purpose of the calls.
    pub purpose: Purpose,
    /// Name of the model.
    pub model: String,
    /// Sum over the calls.
    #[serde(flatten)]
    pub total: CostTotal,
}

/// Totals over a number of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CostTotal {
    /// Number of calls, including those whose price is unknown.
    pub calls: u64,
    /// Number of tokens used by the calls.
    pub usage: Usage,
    /// Total cost of the calls whose price is known.
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

/// Adds up the costs of a conversation, of today in `zone`, and of all time.
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
    fn the_total_is_the_sum_of_the_lines() {
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
        let json = serde_json::to_value(&conversation).unwrap();
        assert_eq!(json["id"], 3);
        assert_eq!(json["total"]["calls"], 2);
        assert_eq!(json["total"]["usage"]["input_tokens"], 20);
        assert_eq!(json["total"]["cost_usd"], 2.0);
        assert_eq!(json["total"]["unpriced_calls"], 1);
        assert_eq!(json["lines"][1]["model"], "b");
        assert_eq!(json["lines"][1]["purpose"], "chat");
        assert_eq!(json["lines"][0]["cost_usd"], 2.0);
    }

    #[tokio::test]
    async fn a_request_without_a_conversation_reports_none() {
        let (store, _) = store_with(&[]).await;
        let report = add_up(&CostRequest::default(), &store, NOW, &TimeZone::UTC).await.unwrap();
        assert_eq!(serde_json::to_value(&report).unwrap()["conversation"], json!(null));
        assert_eq!(report.all.total.calls, 0);
    }
}
