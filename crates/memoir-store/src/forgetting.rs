//! Forgetting what was said, with everything that was made of it.

use async_trait::async_trait;
use memoir_core::{ConversationId, Document, ExchangeId, MessageId, Timestamp};

use crate::Result;

/// What is to be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forget {
    /// A message; its exchange, if nothing is left of it.
    Message(MessageId),
    /// An exchange; its conversation, if nothing is left of it.
    Exchange(ExchangeId),
    /// A conversation.
    Conversation(ConversationId),
    /// The exchanges that began in a time.
    Span {
        /// Nothing from before.
        since: Option<Timestamp>,
        /// Nothing from this moment on.
        until: Option<Timestamp>,
    },
}

/// What was forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Conversations that are gone.
    pub conversations: u64,
    /// Exchanges that are gone.
    pub exchanges: u64,
    /// Messages that are gone.
    pub messages: u64,
    /// Summaries that told of them, and are made anew of what is left.
    pub summaries: u64,
    /// Lines of the command history.
    pub lines: u64,
    /// Answers that quoted them from memory, word by word.
    pub quotations: u64,
    /// Exchanges in whose prompts they stood: what was answered there may repeat them in other words.
    pub told: Vec<ExchangeId>,
    /// Posts that were written from the talk.
    pub posts: Vec<Document>,
    /// Whether someone else reads at this moment, so that something may be left in the file or its log until the memory is opened next.
    pub traces_are_left: bool,
}

impl Forgotten {
    /// Whether there was nothing to forget.
    pub fn is_nothing(&self) -> bool {
        self.messages == 0 && self.exchanges == 0 && self.conversations == 0
    }
}

/// Forgetting. Vectors, words, summaries, work, and what recall noted go with what they were made of; the bill stays.
#[async_trait]
pub trait Forgetting: Send + Sync {
    /// What would be forgotten.
    async fn would_forget(&self, what: Forget) -> Result<Forgotten>;

    /// Forgets it, so that no trace of it is left in the store's files.
    async fn forget(&self, what: Forget) -> Result<Forgotten>;
}
