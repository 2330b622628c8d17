//! A message as one line of JSON in a history file.

use memoir_core::{
    ConversationId, DraftMessage, ExchangeId, Message, MessageBody, MessageId, Provenance, RunId, Timestamp,
    ToolCall, Visibility, count_tokens,
};
use memoir_redact::without_secrets;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The author of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LineRole {
    User,
    Assistant,
    Tool,
}

/// The kind of a line, if it is not a plain message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LineKind {
    /// A message that calls tools, which does not end a run.
    ToolCall,
    /// A kind written by another version. Treated as a plain message.
    #[serde(other)]
    Other,
}

/// The stored form of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct HistoryLine {
    role: LineRole,
    #[serde(default)]
    content: String,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    kind: Option<LineKind>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<HistoryCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
    /// Whether the message contains text written by others. Only stored if it differs from what the body suggests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by_others: Option<bool>,
    /// The run that the message belongs to. Separates an interrupted run from the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct HistoryCall {
    id: String,
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl HistoryLine {
    /// Converts a message to a line, with secrets redacted.
    pub(crate) fn new(run: RunId, message: &DraftMessage) -> Self {
        let mut line = Self {
            role: LineRole::User,
            content: without_secrets(message.body.text()).into_owned(),
            kind: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            tool_name: None,
            by_others: (message.by_others != message.body.infer_by_others()).then_some(message.by_others),
            run: Some(run.get()),
            time: Some(message.created.to_string()),
        };
        match &message.body {
            MessageBody::User { .. } => {}
            MessageBody::Assistant { tool_calls, .. } => {
                line.role = LineRole::Assistant;
                line.kind = (!tool_calls.is_empty()).then_some(LineKind::ToolCall);
                line.tool_calls = tool_calls.iter().map(HistoryCall::new).collect();
            }
            MessageBody::Tool { call_id, tool_name, .. } => {
                line.role = LineRole::Tool;
                line.tool_call_id = Some(call_id.clone());
                line.tool_name = Some(tool_name.clone());
            }
        }
        line
    }

    /// Parses a line. Returns `None` if it is not a message.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let line: Self = serde_json::from_slice(text).ok()?;
        (line.role != LineRole::Tool || line.tool_call_id.is_some()).then_some(line)
    }

    /// Returns whether a run ends with this line.
    pub(crate) fn ends_run(&self) -> bool {
        self.role == LineRole::Assistant
            && self.kind != Some(LineKind::ToolCall)
            && self.tool_calls.is_empty()
    }

    /// Converts the line to a message of exchange `number`.
    pub(crate) fn into_message(self, number: i64) -> Message {
        let created = self.time.as_deref().and_then(|time| time.parse::<jiff::Timestamp>().ok());
        let tokens = count_tokens(&self.content) as u64;
        let body = match self.role {
            LineRole::User => MessageBody::User { text: self.content },
            LineRole::Tool => MessageBody::Tool {
                call_id: self.tool_call_id.unwrap_or_default(),
                tool_name: self.tool_name.unwrap_or_default(),
                text: self.content,
            },
            LineRole::Assistant => MessageBody::Assistant {
                text: self.content,
                tool_calls: self.tool_calls.into_iter().map(HistoryCall::into_call).collect(),
            },
        };
        Message {
            id: MessageId::new(0),
            exchange_id: ExchangeId::new(number),
            conversation_id: ConversationId::new(0),
            author: None,
            by_others: self.by_others.unwrap_or_else(|| body.infer_by_others()),
            body,
            visibility: Visibility::Shown,
            provenance: Provenance::Original,
            tokens,
            created: Timestamp::from_millis(created.map_or(0, |created| created.as_millisecond())),
        }
    }
}

impl HistoryCall {
    /// Converts a tool call, with secrets redacted from its arguments.
    fn new(call: &ToolCall) -> Self {
        let redacted = without_secrets(&call.arguments.to_string()).into_owned();
        let arguments = serde_json::from_str(&redacted).unwrap_or_else(|error| {
            // The placeholder of a secret may make the JSON invalid.
            tracing::debug!(%error, tool = %call.name, "the arguments of a tool call were omitted from the history");
            Value::Object(serde_json::Map::new())
        });
        Self { id: call.id.clone(), name: call.name.clone(), arguments }
    }

    fn into_call(self) -> ToolCall {
        ToolCall { id: self.id, name: self.name, arguments: self.arguments }
    }
}

#[cfg(test)]
mod tests {
    use super::HistoryLine;

    #[test]
    fn an_unknown_kind_is_a_plain_message_and_an_unknown_role_is_rejected() {
        let ends_run = |text: &str| HistoryLine::parse(text.as_bytes()).map(|line| line.ends_run());
        assert_eq!(ends_run(r#"{"role":"assistant","content":"done"}"#), Some(true));
        assert_eq!(ends_run(r#"{"role":"assistant","type":"note","content":"done"}"#), Some(true));
        assert_eq!(ends_run(r#"{"role":"assistant","type":"tool_call"}"#), Some(false));
        assert_eq!(ends_run(r#"{"role":"tool","tool_call_id":"c"}"#), Some(false));
        assert_eq!(ends_run(r#"{"role":"tool"}"#), None);
        assert_eq!(ends_run(r#"{"role":"system","content":"obey"}"#), None);
    }
}
