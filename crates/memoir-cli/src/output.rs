//! The result of an answer, for scripts and for people.

use std::borrow::Cow;

use memoir_agent::{ToolOutcome, TurnEvent, TurnReport};
use memoir_core::{DocumentPassage, ExchangeStatus, Passage, Usage, Usd};
use memoir_models::StopReason;
use memoir_redact::without_secrets;
use serde::Serialize;
use serde_json::{Value, json};

/// What `--output-format json` prints, and `stream-json` prints last.
#[derive(Debug, Serialize)]
pub(crate) struct JsonResult<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    status: ExchangeStatus,
    stop_reason: &'static str,
    conversation_id: i64,
    exchange_id: i64,
    text: &'a str,
    model: &'a str,
    usage: Usage,
    cost_usd: Option<Usd>,
    duration_ms: u64,
    request_count: u64,
    tool_call_count: u64,
    recalled: Vec<JsonPassage<'a>>,
}

/// What memory put into the request.
#[derive(Debug, Serialize)]
pub(crate) struct JsonPassage<'a> {
    kind: &'static str,
    id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exchange_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_id: Option<i64>,
    /// Of a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    slug: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    date: String,
    score: f64,
    similarity: f64,
    tokens: u64,
    text: &'a str,
}

impl<'a> From<&'a Passage> for JsonPassage<'a> {
    fn from(passage: &'a Passage) -> Self {
        Self {
            kind: "message",
            id: passage.message_id.get(),
            exchange_id: Some(passage.exchange_id.get()),
            conversation_id: Some(passage.conversation_id.get()),
            slug: None,
            title: None,
            date: passage.created.to_string(),
            score: passage.score,
            similarity: passage.similarity,
            tokens: passage.tokens,
            text: &passage.text,
        }
    }
}

impl<'a> From<&'a DocumentPassage> for JsonPassage<'a> {
    fn from(passage: &'a DocumentPassage) -> Self {
        Self {
            kind: "document",
            id: passage.document.id.get(),
            exchange_id: None,
            conversation_id: None,
            slug: Some(&passage.document.slug),
            title: Some(&passage.document.title),
            date: passage.document.date.clone(),
            score: passage.score,
            similarity: passage.similarity,
            tokens: passage.tokens,
            text: &passage.text,
        }
    }
}

/// All that was found, the talk first.
pub(crate) fn json_passages<'a>(
    passages: &'a [Passage],
    documents: &'a [DocumentPassage],
) -> Vec<JsonPassage<'a>> {
    passages.iter().map(JsonPassage::from).chain(documents.iter().map(JsonPassage::from)).collect()
}

impl<'a> From<&'a TurnReport> for JsonResult<'a> {
    fn from(report: &'a TurnReport) -> Self {
        Self {
            kind: "result",
            status: report.status,
            stop_reason: match report.stop {
                StopReason::Done => "done",
                StopReason::Length => "length",
            },
            conversation_id: report.conversation_id.get(),
            exchange_id: report.exchange_id.get(),
            text: &report.text,
            model: &report.model,
            usage: report.usage,
            cost_usd: report.cost,
            duration_ms: report.duration_ms,
            request_count: report.request_count,
            tool_call_count: report.tool_call_count,
            recalled: json_passages(&report.recalled.passages, &report.recalled.documents),
        }
    }
}

/// One line of `stream-json`.
pub(crate) fn event_json(event: &TurnEvent) -> Value {
    match event {
        TurnEvent::RequestSent(_) => json!({"type": "request"}),
        TurnEvent::Retrying { reason, wait } => {
            json!({"type": "retry", "reason": reason.to_string(), "wait_ms": wait.as_millis()})
        }
        TurnEvent::Asking => json!({"type": "asking"}),
        TurnEvent::Text(text) => json!({"type": "text", "text": text}),
        TurnEvent::Thinking(text) => json!({"type": "thinking", "text": text}),
        TurnEvent::ToolStarted(call) => {
            json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": shown(&call.arguments)})
        }
        TurnEvent::ToolFinished { call, outcome } => {
            json!({"type": "tool_result", "id": call.id, "name": call.name, "ok": *outcome == ToolOutcome::Succeeded})
        }
        TurnEvent::Notice(text) | TurnEvent::Detail(text) => json!({"type": "notice", "text": text}),
    }
}

/// Arguments as they are shown: without secrets.
fn shown(arguments: &Value) -> Value {
    let text = arguments.to_string();
    match without_secrets(&text) {
        Cow::Borrowed(_) => arguments.clone(),
        Cow::Owned(clean) => serde_json::from_str(&clean).unwrap_or(Value::String(clean)),
    }
}

/// The line under an answer: who, tokens, cost, tools, time. Where it does not fit the width, it goes on in the next line.
pub(crate) fn metrics_line(report: &TurnReport, width: usize) -> String {
    let mut text = String::new();
    let mut taken = 0;
    for part in metrics(report) {
        let length = part.chars().count();
        match taken {
            0 => {}
            taken_now if taken_now + 3 + length < width => {
                text.push_str(" · ");
                taken += 3;
            }
            _ => {
                text.push('\n');
                taken = 0;
            }
        }
        text.push_str(&part);
        taken += length;
    }
    text
}

fn metrics(report: &TurnReport) -> Vec<String> {
    let mut parts = vec![report.model.clone()];
    let usage = report.usage;
    if usage.input_tokens + usage.output_tokens > 0 {
        parts.push(format!("{} in", usage.input_tokens));
        parts.push(format!("{} out", usage.output_tokens));
    }
    if usage.cached_tokens > 0 {
        let share = usage.cached_tokens * 100 / usage.input_tokens.max(1);
        parts.push(format!("{} cached ({share} %)", usage.cached_tokens));
    }
    match report.cost {
        Some(Usd::ZERO) => {}
        Some(cost) => {
            let unpriced = if report.conversation_cost.unpriced_calls > 0 { " and more" } else { "" };
            parts.push(format!("{cost} (conversation {}{unpriced})", report.conversation_cost.cost));
        }
        None => parts.push("price unknown".into()),
    }
    match report.recalled.len() {
        0 => {}
        1 => parts.push("1 recalled".into()),
        several => parts.push(format!("{several} recalled")),
    }
    match report.tool_call_count {
        0 => {}
        1 => parts.push("1 tool call".into()),
        several => parts.push(format!("{several} tool calls")),
    }
    #[expect(clippy::cast_precision_loss, reason = "a duration for reading")]
    let seconds = report.duration_ms as f64 / 1000.0;
    parts.push(format!("{seconds:.1} s"));
    parts
}

#[cfg(test)]
mod tests {
    use memoir_core::{ConversationId, ExchangeId};
    use memoir_store::CostSummary;

    use memoir_core::Recalled;

    use super::*;

    fn report() -> TurnReport {
        TurnReport {
            conversation_id: ConversationId::new(3),
            exchange_id: ExchangeId::new(7),
            status: ExchangeStatus::Completed,
            stop: StopReason::Done,
            text: "hi".into(),
            recalled: Recalled::default(),
            context: None,
            model: "openai/gpt-5-mini".into(),
            usage: Usage { input_tokens: 120, output_tokens: 8, cached_tokens: 64, ..Usage::default() },
            cost: Some(Usd::from_nanos(1_200_000)),
            request_count: 2,
            tool_call_count: 1,
            duration_ms: 1234,
            conversation_cost: CostSummary { cost: Usd::from_nanos(3_400_000), ..CostSummary::default() },
        }
    }

    #[test]
    fn the_metrics_line_says_what_it_took() {
        insta::assert_snapshot!(
            metrics_line(&report(), 200),
            @"openai/gpt-5-mini · 120 in · 8 out · 64 cached (53 %) · $0.0012 (conversation $0.0034) · 1 tool call · 1.2 s"
        );
        let unpriced = TurnReport { cost: None, tool_call_count: 0, ..report() };
        insta::assert_snapshot!(metrics_line(&unpriced, 200), @"openai/gpt-5-mini · 120 in · 8 out · 64 cached (53 %) · price unknown · 1.2 s");
    }

    #[test]
    fn the_json_result_has_every_promised_field() {
        let value = serde_json::to_value(JsonResult::from(&report())).unwrap_or_default();
        for field in [
            "conversation_id",
            "exchange_id",
            "text",
            "model",
            "usage",
            "cost_usd",
            "recalled",
            "duration_ms",
        ] {
            assert!(value.get(field).is_some(), "{field} is missing from {value}");
        }
        assert_eq!(value["cost_usd"], 0.0012);
        assert_eq!(value["recalled"], json!([]));
    }
}
