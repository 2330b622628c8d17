//! Passages recalled from memory.

use std::ops::Range;

use crate::{Answer, ConversationId, DocumentPassage, ExchangeId, MessageId, Role, Timestamp};

/// When and by what a statement was corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Correction {
    /// When the newer statement was made, or the exchange was marked as wrong.
    pub created: Timestamp,
    /// Exchange with the newer statement. `None` if the user marked the exchange as wrong.
    pub exchange_id: Option<ExchangeId>,
}

/// A message that is relevant to a question, with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// Message the passage is taken from.
    pub message_id: MessageId,
    /// Exchange of that message.
    pub exchange_id: ExchangeId,
    /// Conversation of that message.
    pub conversation_id: ConversationId,
    /// Title of that conversation.
    pub title: String,
    /// Sender of the message.
    pub role: Role,
    /// Name of the author, in imported conversations between people.
    pub author: Option<String>,
    /// When the message was sent.
    pub created: Timestamp,
    /// Full text of the message.
    pub text: String,
    /// Byte range of the part of the text that matches the question best, if it was determined. It is the whole text
    /// unless that is long.
    pub part: Option<Range<usize>>,
    /// Relevance; higher is better.
    pub score: f64,
    /// Cosine similarity to the question's embedding.
    pub similarity: f64,
    /// Weighted fraction (0 to 1) of the question's words found in the message or next to it.
    pub coverage: f64,
    /// The correction of this message, if one was detected or the user marked the exchange as wrong.
    pub superseded: Option<Correction>,
    /// Excerpt of the prompt of its exchange.
    pub user_excerpt: String,
    /// Excerpt of the answer of its exchange.
    pub assistant_excerpt: String,
    /// Number of tokens it uses in a request.
    pub tokens: u64,
}

/// A conversation that recalled passages come from.
#[derive(Debug, Clone, PartialEq)]
pub struct RelatedConversation {
    /// Id of the conversation, as in [`Conversation::id`](crate::Conversation::id).
    pub id: ConversationId,
    /// Title of the conversation.
    pub title: String,
    /// Project directory the conversation belongs to.
    pub scope: String,
    /// When the conversation started.
    pub created: Timestamp,
    /// Highest cosine similarity of any of its passages.
    pub similarity: f64,
    /// Number of its own exchanges. A fork does not count those it shares with its parent.
    pub exchange_count: u64,
    /// Summary of the conversation, if one has been written.
    pub summary: Option<String>,
}

/// The passages from memory that were included in a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecalledPassages {
    /// Passages from other conversations, then those from earlier in this one.
    pub passages: Vec<Passage>,
    /// Passages from documents, most relevant first.
    pub documents: Vec<DocumentPassage>,
}

impl RecalledPassages {
    /// Returns the number of passages.
    pub fn len(&self) -> usize {
        self.passages.len() + self.documents.len()
    }

    /// Returns whether nothing was recalled.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The result of recall for a prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recollection {
    /// Conversations the passages come from, most relevant first.
    pub conversations: Vec<RelatedConversation>,
    /// Passages from conversations, most relevant first.
    pub passages: Vec<Passage>,
    /// Passages from documents, most relevant first.
    pub documents: Vec<DocumentPassage>,
    /// Answer without a language model, if one was asked for.
    pub answer: Option<Answer>,
    /// Number of messages and chunks that could not be searched by meaning because they have no embedding yet. Set only
    /// if nothing was found.
    pub pending_embeddings: u64,
    /// Problems to report to the user.
    pub notices: Vec<String>,
}

impl Recollection {
    /// Returns whether there are no passages.
    pub fn is_empty(&self) -> bool {
        self.passages.is_empty() && self.documents.is_empty()
    }
}

impl Passage {
    /// Returns the author's name if there is one, otherwise `user` for the user and "assistant" for the model.
    pub fn speaker<'a>(&'a self, user: &'a str) -> &'a str {
        match (&self.author, self.role) {
            (Some(author), _) => author,
            (None, Role::User) => user,
            (None, Role::Assistant | Role::Tool) => "assistant",
        }
    }
}
