//! Messages, as the REST API takes and sends them.

use http::StatusCode;
use memoir_core::{
    DraftMessage, Message, MessageBody, Provenance, Role, Timestamp, ToolCall, Visibility, count_tokens,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::problem::Problem;

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Author {
    User,
    Assistant,
    Tool,
}

/// A message of an exchange.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExchangeMessage {
    role: Author,
    /// Text of the message. May be empty if there are tool calls.
    text: String,
    /// When it was written, in RFC 3339.
    created: String,
    /// Name of the author, in conversations between people.
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    /// Whether it is left out of later requests: tool traffic and intermediate answers.
    #[serde(default, skip_serializing_if = "is_false")]
    hidden: bool,
    /// Whether a program derived it from memory, so that it is no source.
    #[serde(default, skip_serializing_if = "is_false")]
    derived: bool,
    /// Whether it contains text that neither the user nor the model wrote.
    #[serde(default, skip_serializing_if = "is_false")]
    by_others: bool,
    /// Tools that the model called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CallBody>,
    /// Id of the call that a message of a tool answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
    /// Name of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
}

/// A call of a tool.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CallBody {
    /// Id of the call, repeated in the result.
    id: String,
    /// Name of the tool.
    name: String,
    /// Arguments.
    arguments: Value,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl From<Message> for ExchangeMessage {
    fn from(message: Message) -> Self {
        let role = match message.body.role() {
            Role::User => Author::User,
            Role::Assistant => Author::Assistant,
            Role::Tool => Author::Tool,
        };
        let (text, tool_calls, call_id, tool_name) = match message.body {
            MessageBody::User { text } => (text, Vec::new(), None, None),
            MessageBody::Assistant { text, tool_calls } => (text, tool_calls, None, None),
            MessageBody::Tool { call_id, tool_name, text } => {
                (text, Vec::new(), Some(call_id), Some(tool_name))
            }
        };
        let call = |ToolCall { id, name, arguments }| CallBody { id, name, arguments };
        Self {
            role,
            text,
            created: message.created.to_string(),
            author: message.author,
            hidden: message.visibility == Visibility::Hidden,
            derived: message.provenance == Provenance::Derived,
            by_others: message.by_others,
            tool_calls: tool_calls.into_iter().map(call).collect(),
            call_id,
            tool_name,
        }
    }
}

impl ExchangeMessage {
    pub(super) fn into_draft(self) -> Result<DraftMessage, Problem> {
        let created = time(&self.created)?;
        let incomplete = || {
            Problem::new(
                StatusCode::BAD_REQUEST,
                "a message of a tool needs the id of its call and the name of the tool",
            )
        };
        let call = |CallBody { id, name, arguments }| ToolCall { id, name, arguments };
        let body = match self.role {
            Author::User => MessageBody::User { text: self.text },
            Author::Assistant => {
                let tool_calls = self.tool_calls.into_iter().map(call).collect();
                MessageBody::Assistant { text: self.text, tool_calls }
            }
            Author::Tool => MessageBody::Tool {
                call_id: self.call_id.ok_or_else(incomplete)?,
                tool_name: self.tool_name.ok_or_else(incomplete)?,
                text: self.text,
            },
        };
        Ok(DraftMessage {
            author: self.author,
            by_others: self.by_others || body.infer_by_others(),
            tokens: count_tokens(body.text()) as u64,
            body,
            visibility: if self.hidden { Visibility::Hidden } else { Visibility::Shown },
            provenance: if self.derived { Provenance::Derived } else { Provenance::Original },
            created,
        })
    }
}

/// Parses a time.
pub(super) fn time(text: &str) -> Result<Timestamp, Problem> {
    Timestamp::parse(text).ok_or_else(|| {
        Problem::new(StatusCode::BAD_REQUEST, format!("\"{text}\" is not a time"))
            .hint("Write it as 2026-05-01T12:00:00Z.")
    })
}
