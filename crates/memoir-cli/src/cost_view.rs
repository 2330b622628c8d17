//! What was spent, for reading.

use std::fmt::Write as _;

use memoir_core::{ConversationId, TimeZone, Timestamp};
use memoir_store::{CostFilter, CostLine, CostSummary, Store};
use serde_json::{Value, json};

use crate::failure::Failure;

/// What was spent.
pub(crate) struct CostReport {
    conversation: Option<CostSummary>,
    today: Vec<CostLine>,
    all: Vec<CostLine>,
}

/// Adds up what was spent today, in `conversation`, and in all.
pub(crate) async fn gather(
    store: &dyn Store,
    conversation: Option<ConversationId>,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<CostReport, Failure> {
    let today = CostFilter { since: Some(now.start_of_day(zone)), conversation: None };
    Ok(CostReport {
        conversation: match conversation {
            Some(id) => Some(store.conversation_cost(id).await?),
            None => None,
        },
        today: store.cost_lines(&today).await?,
        all: store.cost_lines(&CostFilter::default()).await?,
    })
}

/// An amount, and how much of it is not known.
pub(crate) fn amount(summary: &CostSummary) -> String {
    match summary.unpriced_calls {
        0 => summary.cost.to_string(),
        1 => format!("{} and 1 call of unknown price", summary.cost),
        calls => format!("{} and {calls} calls of unknown price", summary.cost),
    }
}

fn sum(lines: &[CostLine]) -> CostSummary {
    lines.iter().map(|line| line.summary).sum()
}

impl CostReport {
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        if let Some(conversation) = &self.conversation {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "this conversation  {}", amount(conversation));
        }
        let _ = writeln!(text, "today              {}", amount(&sum(&self.today)));
        let _ = writeln!(text, "in all             {}", amount(&sum(&self.all)));
        for (title, lines) in [("today", &self.today), ("in all", &self.all)] {
            if lines.is_empty() {
                continue;
            }
            let _ = writeln!(text, "\n{title}, by purpose and model");
            for CostLine { purpose, model, summary } in lines {
                let usage = summary.usage;
                let _ = writeln!(
                    text,
                    "  {purpose:<10} {model:<32} {:>5} calls {:>9} in {:>9} cached {:>8} out  {}",
                    summary.calls,
                    usage.input_tokens,
                    usage.cached_tokens,
                    usage.output_tokens,
                    amount(summary)
                );
            }
        }
        text
    }

    pub(crate) fn to_json(&self) -> Value {
        let summary = |summary: &CostSummary| {
            json!({
                "calls": summary.calls,
                "usage": summary.usage,
                "cost_usd": summary.cost,
                "unpriced_calls": summary.unpriced_calls,
            })
        };
        let lines = |lines: &[CostLine]| -> Vec<Value> {
            let line = |line: &CostLine| {
                let mut json = summary(&line.summary);
                json["purpose"] = json!(line.purpose);
                json["model"] = json!(line.model);
                json
            };
            lines.iter().map(line).collect()
        };
        json!({
            "conversation": self.conversation.as_ref().map(summary),
            "today": {"total": summary(&sum(&self.today)), "lines": lines(&self.today)},
            "all": {"total": summary(&sum(&self.all)), "lines": lines(&self.all)},
        })
    }
}
