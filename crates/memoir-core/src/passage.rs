//! What was recalled.

use crate::{ConversationId, DocumentPassage, ExchangeId, MessageId, Role, Timestamp};

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
    /// When something newer was said that corrects it, if that can be told.
    pub superseded: Option<Timestamp>,
    /// What was asked in its exchange, cut around what matters.
    pub user_excerpt: String,
    /// What was answered, cut likewise.
    pub assistant_excerpt: String,
    /// The room that it takes in a request.
    pub tokens: u64,
}

/// A conversation from which something was recalled.
#[derive(Debug, Clone, PartialEq)]
pub struct RelatedConversation {
    /// The conversation.
    pub id: ConversationId,
    /// What it is called.
    pub title: String,
    /// The project it belongs to.
    pub scope: String,
    /// When it began.
    pub created: Timestamp,
    /// How near the nearest of it is in meaning: a cosine.
    pub similarity: f64,
    /// How many exchanges it has.
    pub exchange_count: u64,
    /// What it was about, once that was summed up.
    pub summary: Option<String>,
}

/// What memory put into a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recalled {
    /// What was said before.
    pub passages: Vec<Passage>,
    /// What documents say.
    pub documents: Vec<DocumentPassage>,
}

impl Recalled {
    /// How much it is.
    pub fn len(&self) -> usize {
        self.passages.len() + self.documents.len()
    }

    /// Whether it is nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What memory says about a prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recollection {
    /// The conversations that it comes from, the most relevant first.
    pub conversations: Vec<RelatedConversation>,
    /// What was said, the most relevant first.
    pub passages: Vec<Passage>,
    /// What documents say, the most relevant first.
    pub documents: Vec<DocumentPassage>,
    /// How many messages and chunks wait to be embedded, when nothing was found: what is asked for may be among them.
    pub behind: u64,
    /// What did not work, in words for the user.
    pub notices: Vec<String>,
}

impl Recollection {
    /// Whether there is nothing to quote.
    pub fn is_empty(&self) -> bool {
        self.passages.is_empty() && self.documents.is_empty()
    }
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
