//! What was recalled.

use crate::{ConversationId, ExchangeId, MessageId, Role, Timestamp};

/// Something that was said before and is relevant now, with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// The message that says it.
    pub message_id: MessageId,
    /// Its exchange.
    pub exchange_id: ExchangeId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// What that conversation is called.
    pub title: String,
    /// Who said it.
    pub role: Role,
    /// By name, where the talk was between people.
    pub author: Option<String>,
    /// When.
    pub created: Timestamp,
    /// What it says, all of it.
    pub text: String,
    /// How relevant it is; higher is more.
    pub score: f64,
    /// How near it is in meaning: a cosine.
    pub similarity: f64,
    /// How much of the question's words it has, itself or beside it: 0 to 1.
    pub coverage: f64,
    /// Its size.
    pub tokens: u64,
}

impl Passage {
    /// Who said it: a name where there is one, else `user` for the person and "assistant" for the model.
    pub fn speaker<'a>(&'a self, user: &'a str) -> &'a str {
        match (&self.author, self.role) {
            (Some(author), _) => author,
            (None, Role::User) => user,
            (None, Role::Assistant | Role::Tool) => "assistant",
        }
    }
}
