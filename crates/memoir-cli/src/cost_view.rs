//! What was spent, for reading.

use std::fmt::Write as _;

use memoir_core::{ConversationId, TimeZone, Timestamp, Usd};
use memoir_store::{CostFilter, CostLine, CostSummary, Store};
use serde_json::{Value, json};

use memoir_runtime::failure::Failure;

/// What was spent.
pub(crate) struct CostReport {
    conversation: Option<(ConversationId, Vec<CostLine>)>,
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
            Some(id) => {
                let filter = CostFilter { since: None, conversation: Some(id) };
                Some((id, store.cost_lines(&filter).await?))
            }
            None => None,
        },
        today: store.cost_lines(&today).await?,
        all: store.cost_lines(&CostFilter::default()).await?,
    })
}

/// An amount, and how much of it is not known.
pub(crate) fn amount(summary: &CostSummary) -> String {
    let unknown = match summary.unpriced_calls {
        0 => return summary.cost.to_string(),
        1 => "1 call of unknown price".to_owned(),
        calls => format!("{calls} calls of unknown price"),
    };
    if summary.cost == Usd::ZERO { unknown } else { format!("{} and {unknown}", summary.cost) }
}

fn sum(lines: &[CostLine]) -> CostSummary {
    lines.iter().map(|line| line.summary).sum()
}

impl CostReport {
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        let mut periods = vec![("today".to_owned(), &self.today), ("in all".to_owned(), &self.all)];
        if let Some((id, lines)) = &self.conversation {
            periods.insert(0, (format!("conversation {id}"), lines));
        }
        for (title, lines) in &periods {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{title:<18} {}", amount(&sum(lines)));
        }
        // What repeats the period before it says nothing new.
        let mut shown: &[CostLine] = &[];
        for (title, lines) in periods {
            if lines.as_slice() != shown {
                let _ = writeln!(text, "\n{title}, by purpose and model");
                lines.iter().for_each(|line| write_line(&mut text, line));
                shown = lines;
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
            "conversation": self.conversation.as_ref().map(|(id, of)| {
                json!({"id": id.get(), "total": summary(&sum(of)), "lines": lines(of)})
            }),
            "today": {"total": summary(&sum(&self.today)), "lines": lines(&self.today)},
            "all": {"total": summary(&sum(&self.all)), "lines": lines(&self.all)},
        })
    }
}

fn write_line(text: &mut String, line: &CostLine) {
    let CostLine { purpose, model, summary } = line;
    let (calls, usage) = (summary.calls, summary.usage);
    let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
    let _ = writeln!(
        text,
        "  {purpose:<10} {model:<32} {calls:>11} {:>9} in {:>9} cached {:>8} out  {}",
        usage.input_tokens,
        usage.cached_tokens,
        usage.output_tokens,
        amount(summary)
    );
}
