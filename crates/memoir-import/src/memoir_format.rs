//! Reads and writes Memoir's own export format, which is JSON Lines.
//!
//! The first line contains the format version. Conversations follow, each before its exchanges with their
//! messages. Lines of an unknown kind are skipped, which lets newer versions add kinds; an unknown format
//! version is rejected.

use std::collections::HashMap;

use memoir_core::{
    Conversation, ConversationId, DraftMessage, Exchange, Message, MessageBody, Provenance, Role, Timestamp,
    ToolCall, Visibility,
};
use serde::{Deserialize, Serialize};

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL,
    builder::{BAD_LINES, BAD_MESSAGES, HistoryBuilder, choose_title},
    json,
};

/// Format version that is written, and the newest that is read.
pub const FORMAT: u32 = 1;

const UNKNOWN: &str = "lines of an unknown kind";

const ORPHANED: &str = "exchanges without a conversation";

/// One line of an export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ExportLine {
    /// The first line of every file.
    Memoir {
        /// Format version of the file.
        format: u32,
    },
    /// A conversation, written before its exchanges.
    Conversation(ConversationLine),
    /// One exchange of a conversation.
    Exchange(ExchangeLine),
    /// A line of an unknown kind. Never written.
    #[serde(other, skip_serializing)]
    Unknown,
}

/// A conversation in an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationLine {
    /// Id in the exporting store.
    pub id: ConversationId,
    /// Identifies the conversation when it is imported again.
    #[serde(default)]
    pub origin: String,
    /// Title on one line.
    #[serde(default)]
    pub title: String,
    /// Project of the conversation.
    #[serde(default)]
    pub scope: String,
    /// Creation time of the conversation.
    #[serde(with = "rfc3339")]
    pub created: Timestamp,
}

/// An exchange in an export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExchangeLine {
    /// Id of the conversation, as in its [`ConversationLine`].
    pub conversation: ConversationId,
    /// Model that answered, or empty if the file does not name one.
    #[serde(default)]
    pub model: String,
    /// All messages of the exchange, in order.
    pub messages: Vec<MessageLine>,
}

/// A message in an export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageLine {
    /// Role of the message's author.
    pub role: Role,
    /// Text of the message.
    pub text: String,
    /// Time of the message.
    #[serde(with = "rfc3339")]
    pub created: Timestamp,
    /// Name of the author, in chats between people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Whether the message is omitted from later requests.
    #[serde(default, skip_serializing_if = "is_false")]
    pub redacted: bool,
    /// Whether Memoir derived the message from stored memory.
    #[serde(default, skip_serializing_if = "is_false")]
    pub derived: bool,
    /// Whether the message contains text that neither the user nor the model wrote. Present only if this
    /// differs from what the message itself implies. An import ignores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_others: Option<bool>,
    /// Tool calls that the model requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Id of the call that a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Name of the tool that ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Timestamps in RFC 3339, in UTC with milliseconds.
mod rfc3339 {
    use memoir_core::Timestamp;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(timestamp: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(timestamp)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        Timestamp::parse(&text).ok_or_else(|| D::Error::custom("not an RFC 3339 timestamp"))
    }
}

impl ExportLine {
    /// Returns the first line of every file.
    pub const fn header() -> Self {
        Self::Memoir { format: FORMAT }
    }

    /// Returns the line for a conversation. `origin` is the origin it was imported with; `None` if it was
    /// started in this store.
    pub fn conversation(conversation: &Conversation, origin: Option<String>) -> Self {
        let &Conversation { id, created, .. } = conversation;
        Self::Conversation(ConversationLine {
            id,
            origin: origin.unwrap_or_else(|| memoir_origin(created, id)),
            title: conversation.title.clone(),
            scope: conversation.scope.clone(),
            created,
        })
    }

    /// Returns the line for an exchange and its messages.
    pub fn exchange(exchange: &Exchange, messages: &[Message]) -> Self {
        Self::Exchange(ExchangeLine {
            conversation: exchange.conversation_id,
            model: exchange.model.clone(),
            messages: messages.iter().map(MessageLine::from).collect(),
        })
    }

    /// Returns the line as JSON, with a newline.
    pub fn to_line(&self) -> String {
        // Serialization cannot fail, because all map keys are strings.
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}

/// Returns the origin of a conversation that was started in Memoir.
fn memoir_origin(created: Timestamp, id: ConversationId) -> String {
    format!("memoir/{}/{id}", created.as_millis())
}

impl From<&Message> for MessageLine {
    fn from(message: &Message) -> Self {
        let mut line = Self {
            role: message.body.role(),
            text: message.body.text().to_owned(),
            created: message.created,
            author: message.author.clone(),
            redacted: message.visibility == Visibility::Hidden,
            derived: message.provenance == Provenance::Derived,
            by_others: (message.by_others != message.body.infer_by_others()).then_some(message.by_others),
            tool_calls: Vec::new(),
            call_id: None,
            tool_name: None,
        };
        match &message.body {
            MessageBody::User { .. } => {}
            MessageBody::Assistant { tool_calls, .. } => line.tool_calls.clone_from(tool_calls),
            MessageBody::Tool { call_id, tool_name, .. } => {
                (line.call_id, line.tool_name) = (Some(call_id.clone()), Some(tool_name.clone()));
            }
        }
        line
    }
}

impl MessageLine {
    /// Returns `None` if a tool message does not name its call and its tool.
    fn into_message(self) -> Option<DraftMessage> {
        let body = match self.role {
            Role::User => MessageBody::User { text: self.text },
            Role::Assistant => MessageBody::Assistant { text: self.text, tool_calls: self.tool_calls },
            Role::Tool => {
                MessageBody::Tool { call_id: self.call_id?, tool_name: self.tool_name?, text: self.text }
            }
        };
        Some(DraftMessage {
            author: self.author,
            // A file may come from anyone, whatever it says.
            by_others: true,
            body,
            visibility: if self.redacted { Visibility::Hidden } else { Visibility::Shown },
            provenance: if self.derived { Provenance::Derived } else { Provenance::Original },
            tokens: 0,
            created: self.created,
        })
    }
}

/// Reads a file written by `memoir export`.
///
/// # Errors
///
/// Fails if the text has another format, or if a newer version of Memoir wrote it.
pub fn read_memoir(text: &str) -> Result<ImportedHistory, ImportError> {
    let mut lines = json::lines(text).map(serde_json::from_str);
    match lines.next() {
        Some(Ok(ExportLine::Memoir { format: ..=FORMAT })) => {}
        Some(Ok(ExportLine::Memoir { format })) => {
            return Err(ImportError::Newer { format, supported: FORMAT });
        }
        _ => return Err(ImportError::WrongFormat("a file written by `memoir export`")),
    }
    let mut history = HistoryBuilder::default();
    let mut conversations: Vec<ImportedConversation> = Vec::new();
    let mut indexes: HashMap<ConversationId, usize> = HashMap::new();
    for line in lines {
        match line {
            Ok(ExportLine::Conversation(line)) if !indexes.contains_key(&line.id) => {
                indexes.insert(line.id, conversations.len());
                conversations.push(build_conversation(line));
            }
            Ok(ExportLine::Exchange(line)) => match indexes.get(&line.conversation) {
                Some(index) => add_exchange(&mut conversations[*index], line, &mut history),
                None => history.skip(ORPHANED),
            },
            Ok(ExportLine::Unknown) => history.skip(UNKNOWN),
            Ok(ExportLine::Memoir { .. } | ExportLine::Conversation(_)) | Err(_) => history.skip(BAD_LINES),
        }
    }
    for conversation in conversations {
        let title = choose_title(Some(&conversation.title), &conversation.messages);
        history.add(ImportedConversation { title, ..conversation });
    }
    Ok(history.finish())
}

fn build_conversation(line: ConversationLine) -> ImportedConversation {
    let origin = if line.origin.is_empty() { memoir_origin(line.created, line.id) } else { line.origin };
    let scope = if line.scope.is_empty() { "memoir".into() } else { line.scope };
    ImportedConversation {
        title: line.title,
        origin,
        name: String::new(),
        scope,
        model: UNKNOWN_MODEL.into(),
        has_times: true,
        is_open: false,
        messages: Vec::new(),
    }
}

/// Adds an exchange to its conversation, whose model becomes that of the last exchange.
fn add_exchange(conversation: &mut ImportedConversation, line: ExchangeLine, history: &mut HistoryBuilder) {
    let count = line.messages.len();
    let before = conversation.messages.len();
    conversation.messages.extend(line.messages.into_iter().filter_map(MessageLine::into_message));
    history.skip_many(BAD_MESSAGES, count + before - conversation.messages.len());
    if !line.model.is_empty() {
        conversation.model = line.model;
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_core::{ExchangeId, ExchangeStatus, MessageId, Usage};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn conversation() -> Conversation {
        Conversation {
            id: ConversationId::new(7),
            title: "Knots".into(),
            scope: "/home/anna".into(),
            model: "m".into(),
            created: Timestamp::from_millis(1_700_000_000_123),
            updated: Timestamp::from_millis(1_700_000_100_000),
            exchange_count: 1,
            forked_from: None,
            summary: None,
            is_shared: false,
        }
    }

    fn exchange() -> Exchange {
        Exchange {
            id: ExchangeId::new(3),
            conversation_id: ConversationId::new(7),
            status: ExchangeStatus::Completed,
            started: Timestamp::from_millis(0),
            completed: Timestamp::from_millis(0),
            user_message: String::new(),
            assistant_message: String::new(),
            model: "gpt-4".into(),
            usage: Usage::default(),
            cost: None,
            tool_call_count: 0,
            request_count: 1,
            error: None,
            source: None,
        }
    }

    fn message(author: Option<String>, body: MessageBody, bits: [bool; 3], millis: i64) -> Message {
        Message {
            id: MessageId::new(1),
            exchange_id: ExchangeId::new(3),
            conversation_id: ConversationId::new(7),
            author,
            body,
            visibility: if bits[0] { Visibility::Hidden } else { Visibility::Shown },
            provenance: if bits[1] { Provenance::Derived } else { Provenance::Original },
            by_others: bits[2],
            tokens: 9,
            created: Timestamp::from_millis(millis),
        }
    }

    fn export(messages: &[Message]) -> String {
        [
            ExportLine::header(),
            ExportLine::conversation(&conversation(), None),
            ExportLine::exchange(&exchange(), messages),
        ]
        .iter()
        .map(ExportLine::to_line)
        .collect()
    }

    #[test]
    fn exported_lines_match_the_documented_format() {
        let call = ToolCall { id: "c1".into(), name: "read".into(), arguments: json!({"path": "a"}) };
        let messages = [
            message(None, MessageBody::User { text: "Hi".into() }, [false, false, false], 1_700_000_000_000),
            message(
                None,
                MessageBody::Assistant { text: String::new(), tool_calls: vec![call] },
                [true, false, false],
                1_700_000_000_001,
            ),
            message(
                None,
                MessageBody::Tool { call_id: "c1".into(), tool_name: "read".into(), text: "x".into() },
                [true, true, true],
                1_700_000_000_002,
            ),
        ];
        assert_eq!(
            export(&messages),
            concat!(
                r#"{"kind":"memoir","format":1}"#,
                "\n",
                r#"{"kind":"conversation","id":7,"origin":"memoir/1700000000123/7","title":"Knots","scope":"/home/anna","#,
                r#""created":"2023-11-14T22:13:20.123Z"}"#,
                "\n",
                r#"{"kind":"exchange","conversation":7,"model":"gpt-4","messages":["#,
                r#"{"role":"user","text":"Hi","created":"2023-11-14T22:13:20.000Z"},"#,
                r#"{"role":"assistant","text":"","created":"2023-11-14T22:13:20.001Z","redacted":true,"#,
                r#""tool_calls":[{"id":"c1","name":"read","arguments":{"path":"a"}}]},"#,
                r#"{"role":"tool","text":"x","created":"2023-11-14T22:13:20.002Z","redacted":true,"derived":true,"#,
                r#""call_id":"c1","tool_name":"read"}]}"#,
                "\n",
            )
        );
    }

    #[test]
    fn newer_and_other_formats_are_rejected() {
        let newer = read_memoir("{\"kind\":\"memoir\",\"format\":2}\n").unwrap_err();
        assert_eq!(
            newer.to_string(),
            "this file was written by a newer version of Memoir (format 2); this version reads formats up to 1"
        );
        for other in ["", "{}", "[]", "{\"kind\":\"conversation\"}", "{\"kind\":\"memoir\"}", "Hello"] {
            assert!(matches!(read_memoir(other), Err(ImportError::WrongFormat(_))), "{other:?}");
        }
    }

    fn body() -> impl Strategy<Value = MessageBody> {
        let arguments = prop_oneof![
            any::<String>().prop_map(Value::from),
            any::<i64>().prop_map(|number| json!({"number": number, "list": [null, true]})),
        ];
        let call = (any::<String>(), any::<String>(), arguments).prop_map(|(id, name, arguments)| ToolCall {
            id,
            name,
            arguments,
        });
        prop_oneof![
            any::<String>().prop_map(|text| MessageBody::User { text }),
            (any::<String>(), proptest::collection::vec(call, 0..3))
                .prop_map(|(text, tool_calls)| MessageBody::Assistant { text, tool_calls }),
            (any::<String>(), any::<String>(), any::<String>())
                .prop_map(|(call_id, tool_name, text)| MessageBody::Tool { call_id, tool_name, text }),
        ]
    }

    proptest! {
        #[test]
        fn messages_survive_a_round_trip(
            messages in proptest::collection::vec(
                (any::<Option<String>>(), body(), any::<[bool; 3]>(), -60_000_000_000_000..200_000_000_000_000_i64)
                    .prop_map(|(author, body, bits, millis)| message(author, body, bits, millis)),
                1..6,
            )
        ) {
            let history = read_memoir(&export(&messages)).unwrap();
            prop_assert!(history.skipped.is_empty());
            let conversation = &history.conversations[0];
            prop_assert_eq!(
                (&conversation.origin[..], &conversation.scope[..], &conversation.model[..]),
                ("memoir/1700000000123/7", "/home/anna", "gpt-4")
            );
            let expected: Vec<DraftMessage> = messages
                .into_iter()
                .map(|message| DraftMessage {
                    author: message.author,
                    body: message.body,
                    visibility: message.visibility,
                    provenance: message.provenance,
                    by_others: true,
                    tokens: 0,
                    created: message.created,
                })
                .collect();
            prop_assert_eq!(&conversation.messages, &expected);
        }
    }
}
