//! The JSON forms of events and reports, as printed by `--output-format stream-json` and sent by servers.
//!
//! `docs/json.md` describes them for users. Fields may be added, but never renamed or removed.

use std::borrow::Cow;

use memoir_core::{ConversationId, DocumentPassage, ExchangeId, ExchangeStatus, Passage, Usage, Usd};
use memoir_models::StopReason;
use memoir_redact::without_secrets;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{ToolOutcome, TurnEvent, TurnReport};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum EventForm<'a> {
    Request,
    Retry { reason: String, wait_ms: u64 },
    Asking,
    Text { text: &'a str },
    Thinking { text: &'a str },
    ToolCall { id: &'a str, name: &'a str, arguments: Value },
    ToolProgress { id: &'a str, name: &'a str, text: &'a str },
    ToolOutput { id: &'a str, name: &'a str, last_lines: Cow<'a, str> },
    ToolResult { id: &'a str, name: &'a str, ok: bool, outcome: ToolOutcome, bytes: usize, duration_ms: u64 },
    Notice { text: &'a str, level: NoticeLevel },
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum NoticeLevel {
    Notice,
    Detail,
}

impl<'a> From<&'a TurnEvent> for EventForm<'a> {
    fn from(event: &'a TurnEvent) -> Self {
        match event {
            TurnEvent::RequestSent(_) => Self::Request,
            TurnEvent::Retrying { reason, wait } => Self::Retry {
                reason: reason.to_string(),
                wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            },
            TurnEvent::ApprovalRequested => Self::Asking,
            TurnEvent::Text(text) => Self::Text { text },
            TurnEvent::Thinking(text) => Self::Thinking { text },
            TurnEvent::ToolStarted(call) => Self::ToolCall {
                id: &call.id,
                name: &call.name,
                arguments: redact_arguments(&call.arguments),
            },
            TurnEvent::ToolProgress { call, text } => {
                Self::ToolProgress { id: &call.id, name: &call.name, text }
            }
            TurnEvent::ToolPrinted { call, text } => {
                Self::ToolOutput { id: &call.id, name: &call.name, last_lines: without_secrets(text) }
            }
            TurnEvent::ToolFinished { call, outcome, result } => Self::ToolResult {
                id: &call.id,
                name: &call.name,
                ok: *outcome == ToolOutcome::Succeeded,
                outcome: *outcome,
                bytes: result.text.len(),
                duration_ms: u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX),
            },
            TurnEvent::Notice(text) => Self::Notice { text, level: NoticeLevel::Notice },
            TurnEvent::Detail(text) => Self::Notice { text, level: NoticeLevel::Detail },
        }
    }
}

impl Serialize for TurnEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        EventForm::from(self).serialize(serializer)
    }
}

fn redact_arguments(arguments: &Value) -> Value {
    let text = arguments.to_string();
    match without_secrets(&text) {
        Cow::Borrowed(_) => arguments.clone(),
        Cow::Owned(redacted) => serde_json::from_str(&redacted).unwrap_or(Value::String(redacted)),
    }
}

#[derive(Serialize)]
struct ReportForm<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    status: ExchangeStatus,
    stop_reason: &'static str,
    conversation_id: ConversationId,
    exchange_id: ExchangeId,
    text: &'a str,
    model: &'a str,
    usage: Usage,
    cost_usd: Option<Usd>,
    duration_ms: u64,
    request_count: u64,
    tool_call_count: u64,
    recalled: Vec<RecalledPassage<'a>>,
}

impl<'a> From<&'a TurnReport> for ReportForm<'a> {
    fn from(report: &'a TurnReport) -> Self {
        Self {
            kind: "result",
            status: report.status,
            stop_reason: match report.stop {
                StopReason::Done => "done",
                StopReason::Length => "length",
            },
            conversation_id: report.conversation_id,
            exchange_id: report.exchange_id,
            text: &report.text,
            model: &report.model,
            usage: report.usage,
            cost_usd: report.cost,
            duration_ms: report.duration_ms,
            request_count: report.request_count,
            tool_call_count: report.tool_call_count,
            recalled: RecalledPassage::list(&report.recalled.passages, &report.recalled.documents),
        }
    }
}

impl Serialize for TurnReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ReportForm::from(self).serialize(serializer)
    }
}

/// JSON form of a recalled passage and its source.
#[derive(Debug, Serialize)]
pub struct RecalledPassage<'a> {
    /// `message` for a message in a conversation, `document` for a part of a document.
    pub kind: &'static str,
    /// Id of the message or the document.
    pub id: i64,
    /// Exchange of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange_id: Option<ExchangeId>,
    /// Conversation of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// Slug of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slug: Option<&'a str>,
    /// Title of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// Time of the message in RFC 3339, or date of the document.
    pub date: String,
    /// Final score. Larger is better; only comparable within one result.
    pub score: f64,
    /// Cosine similarity of the embeddings of the passage and the prompt.
    pub similarity: f64,
    /// Number of tokens in the passage in the request.
    pub tokens: u64,
    /// Text of the passage.
    pub text: &'a str,
}

impl<'a> RecalledPassage<'a> {
    /// Converts all passages, those from conversations first.
    pub fn list(passages: &'a [Passage], documents: &'a [DocumentPassage]) -> Vec<Self> {
        passages.iter().map(Self::from).chain(documents.iter().map(Self::from)).collect()
    }
}

impl<'a> From<&'a Passage> for RecalledPassage<'a> {
    fn from(passage: &'a Passage) -> Self {
        Self {
            kind: "message",
            id: passage.message_id.get(),
            exchange_id: Some(passage.exchange_id),
            conversation_id: Some(passage.conversation_id),
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

impl<'a> From<&'a DocumentPassage> for RecalledPassage<'a> {
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

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use memoir_core::{RecalledPassages, ToolCall};
    use memoir_models::{ChatRequest, ModelError};
    use memoir_store::CostSummary;
    use serde_json::json;

    use super::*;
    use crate::CallSummary;

    #[test]
    fn every_event_has_its_documented_form() -> Result<(), serde_json::Error> {
        let call = ToolCall {
            id: "c1".into(),
            name: "fetch".into(),
            arguments: json!({"header": "Authorization: Bearer abcdefgh12345678"}),
        };
        let result = CallSummary {
            text: "four".into(),
            duration: Duration::from_millis(20),
            ..CallSummary::default()
        };
        let finished =
            |outcome| TurnEvent::ToolFinished { call: call.clone(), outcome, result: result.clone() };
        let events = [
            (TurnEvent::RequestSent(Arc::new(ChatRequest::default())), json!({"type": "request"})),
            (
                TurnEvent::Retrying { reason: ModelError::Empty, wait: Duration::from_millis(1500) },
                json!({"type": "retry", "reason": ModelError::Empty.to_string(), "wait_ms": 1500}),
            ),
            (TurnEvent::ApprovalRequested, json!({"type": "asking"})),
            (TurnEvent::Text("hi".into()), json!({"type": "text", "text": "hi"})),
            (TurnEvent::Thinking("hm".into()), json!({"type": "thinking", "text": "hm"})),
            (
                TurnEvent::ToolPrinted {
                    call: call.clone(),
                    text: "Authorization: Bearer abcdefgh12345678".into(),
                },
                json!({"type": "tool_output", "id": "c1", "name": "fetch", "last_lines": without_secrets("Authorization: Bearer abcdefgh12345678")}),
            ),
            (
                finished(ToolOutcome::Succeeded),
                json!({"type": "tool_result", "id": "c1", "name": "fetch", "ok": true, "outcome": "succeeded", "bytes": 4, "duration_ms": 20}),
            ),
            (
                finished(ToolOutcome::Refused),
                json!({"type": "tool_result", "id": "c1", "name": "fetch", "ok": false, "outcome": "refused", "bytes": 4, "duration_ms": 20}),
            ),
            (TurnEvent::Notice("cut".into()), json!({"type": "notice", "text": "cut", "level": "notice"})),
            (TurnEvent::Detail("late".into()), json!({"type": "notice", "text": "late", "level": "detail"})),
        ];
        for (event, expected) in events {
            assert_eq!(serde_json::to_value(&event)?, expected);
        }
        let started = serde_json::to_value(TurnEvent::ToolStarted(call))?;
        assert_eq!(
            (&started["type"], &started["id"], &started["name"]),
            (&json!("tool_call"), &json!("c1"), &json!("fetch"))
        );
        assert!(!started.to_string().contains("abcdefgh12345678"), "{started}");
        Ok(())
    }

    #[test]
    fn a_report_has_its_documented_form() -> Result<(), serde_json::Error> {
        let report = TurnReport {
            conversation_id: ConversationId::new(3),
            exchange_id: ExchangeId::new(7),
            status: ExchangeStatus::Completed,
            stop: StopReason::Length,
            text: "hi".into(),
            recalled: RecalledPassages::default(),
            context: None,
            model: "m".into(),
            usage: Usage { input_tokens: 120, ..Usage::default() },
            cost: Some(Usd::from_nanos(1_200_000)),
            request_count: 2,
            tool_call_count: 1,
            duration_ms: 1234,
            conversation_cost: CostSummary::default(),
        };
        let expected = json!({
            "type": "result", "status": "completed", "stop_reason": "length", "conversation_id": 3, "exchange_id": 7,
            "text": "hi", "model": "m", "cost_usd": 0.0012, "duration_ms": 1234, "request_count": 2,
            "tool_call_count": 1, "recalled": [],
            "usage": {
                "input_tokens": 120, "output_tokens": 0, "cached_tokens": 0, "cache_write_tokens": 0,
                "reasoning_tokens": 0
            }
        });
        assert_eq!(serde_json::to_value(&report)?, expected);
        Ok(())
    }
}
