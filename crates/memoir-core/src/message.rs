//! Messages: the items of an exchange.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ConversationId, ExchangeId, MessageId, Timestamp, ToolCall};

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool, answering a call.
    Tool,
}

impl Role {
    /// The word the store keeps.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a message says. The shape makes a result without its call id, or a call from the user,
/// impossible to write.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum MessageBody {
    /// The person's words.
    User {
        /// What was typed.
        text: String,
    },
    /// The model's words and the tools it asked for.
    Assistant {
        /// What it said; may be empty beside tool calls.
        text: String,
        /// What it asked to run.
        tool_calls: Vec<ToolCall>,
    },
    /// What a tool answered.
    Tool {
        /// The call this answers.
        call_id: String,
        /// The tool that ran.
        tool_name: String,
        /// Its output, or why there is none.
        text: String,
    },
}

impl MessageBody {
    /// Who it is from.
    pub const fn role(&self) -> Role {
        match self {
            Self::User { .. } => Role::User,
            Self::Assistant { .. } => Role::Assistant,
            Self::Tool { .. } => Role::Tool,
        }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        match self {
            Self::User { text } | Self::Assistant { text, .. } | Self::Tool { text, .. } => text,
        }
    }

    /// Guesses [`Message::by_others`] for a message from a source that did not record it, such as an older export or a task
    /// history: a user's message counts if it contains the fence of an attached file.
    pub fn infer_by_others(&self) -> bool {
        match self {
            Self::User { text } => text.contains("\n<file path=\""),
            Self::Assistant { .. } => false,
            Self::Tool { tool_name, .. } => Self::is_result_by_others(tool_name),
        }
    }

    /// Returns whether a result of the tool `name` counts as written by others. The core memory tool only repeats what the
    /// user and the model wrote.
    pub fn is_result_by_others(name: &str) -> bool {
        name != "core_memory"
    }
}

/// Whether a message is sent again in later exchanges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// It is: prompts and final answers.
    Shown,
    /// It is kept but never sent again: tool traffic and intermediate replies.
    Redacted,
}

/// Where a message's text comes from. Memory that quotes memory must not become new memory, and neither must
/// a notice of the program's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// It was said here for the first time.
    Said,
    /// The program made it, of what memory already holds or as a notice: never indexed, embedded or summarised.
    Derived,
}

/// A message of an exchange that is not stored yet.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftMessage {
    /// The name of who said it, where the talk was between people.
    pub author: Option<String>,
    /// What it says.
    pub body: MessageBody,
    /// Whether later exchanges see it.
    pub visibility: Visibility,
    /// Whether it is new.
    pub provenance: Provenance,
    /// Whether it contains text that neither the user nor the model wrote: an attached file, piped text, or a tool's output.
    pub by_others: bool,
    /// Its size for the budget.
    pub tokens: u64,
    /// When it was said.
    pub created: Timestamp,
}

/// A stored message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// The exchange it belongs to.
    pub exchange_id: ExchangeId,
    /// The conversation of that exchange.
    pub conversation_id: ConversationId,
    /// The name of who said it, where the talk was between people.
    pub author: Option<String>,
    /// What it says.
    #[serde(flatten)]
    pub body: MessageBody,
    /// Whether later exchanges see it.
    pub visibility: Visibility,
    /// Whether it was new.
    pub provenance: Provenance,
    /// See [`DraftMessage::by_others`].
    pub by_others: bool,
    /// Its size for the budget.
    pub tokens: u64,
    /// When it was said.
    pub created: Timestamp,
}
