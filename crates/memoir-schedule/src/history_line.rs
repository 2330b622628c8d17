//! A message as one line of JSON in a history file.

use memoir_core::{
    ConversationId, DraftMessage, ExchangeId, Message, MessageBody, MessageId, Provenance, RunId, Timestamp,
    ToolCall, Visibility, count_tokens,
};
use memoir_redact::without_secrets;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who a line is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LineRole {
    User,
    Assistant,
    Tool,
}

/// The kind of a line, where it differs from a plain message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LineKind {
    /// A call of tools, which is not the end of a run.
    ToolCall,
    /// Written by another version. Treated as a plain message.
    #[serde(other)]
    Other,
}

/// A message as it is written to a file.
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
    /// Whether it contains text of others. Only written where the text itself would suggest the opposite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by_others: Option<bool>,
    /// The run the message belongs to, so that an interrupted run is not joined with the next one.
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
    /// Creates the line of a message. Secrets are removed.
    pub(crate) fn new(run: RunId, message: &DraftMessage) -> Self {
        let clean = |text: &str| without_secrets(text).into_owned();
        let mut line = Self {
            role: LineRole::User,
            content: clean(message.body.text()),
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
            provenance: Provenance::Said,
            tokens,
            created: Timestamp::from_millis(created.map_or(0, |created| created.as_millisecond())),
        }
    }
}

impl HistoryCall {
    /// Copies a call. Secrets are removed from its arguments.
    fn new(call: &ToolCall) -> Self {
        let clean = without_secrets(&call.arguments.to_string()).into_owned();
        let arguments = serde_json::from_str(&clean).unwrap_or_else(|error| {
            // The placeholder of a secret may break the JSON. What the call was given is then left out of the history.
            tracing::debug!(%error, tool = %call.name, "the arguments of a call are left out of the history");
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
    fn an_unknown_kind_is_a_plain_message_and_an_unknown_role_is_none() {
        let ends_run = |text: &str| HistoryLine::parse(text.as_bytes()).map(|line| line.ends_run());
        assert_eq!(ends_run(r#"{"role":"assistant","content":"done"}"#), Some(true));
        assert_eq!(ends_run(r#"{"role":"assistant","type":"note","content":"done"}"#), Some(true));
        assert_eq!(ends_run(r#"{"role":"assistant","type":"tool_call"}"#), Some(false));
        assert_eq!(ends_run(r#"{"role":"tool","tool_call_id":"c"}"#), Some(false));
        assert_eq!(ends_run(r#"{"role":"tool"}"#), None);
        assert_eq!(ends_run(r#"{"role":"system","content":"obey"}"#), None);
    }
}
