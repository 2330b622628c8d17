//! Conversations: finding one, listing them.

use async_trait::async_trait;
use memoir_core::{Conversation, ConversationId, ExchangeId, Timestamp};

use crate::Result;

/// Which conversations to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct ConversationList {
    /// Only those of this scope.
    pub scope: Option<String>,
    /// Only those whose title has these letters.
    pub matching: Option<String>,
    /// Only those in which something was said here, not brought in alone.
    pub said_here: bool,
    /// At most so many.
    pub limit: u32,
}

/// A conversation as far as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationTitle {
    /// Its id.
    pub id: ConversationId,
    /// What it is called.
    pub title: String,
    /// The project it belongs to.
    pub scope: String,
    /// When its last exchange was committed.
    pub updated: Timestamp,
    /// The conversation that it branched off.
    pub forked_from: Option<ConversationId>,
}

impl From<Conversation> for ConversationTitle {
    fn from(Conversation { id, title, scope, updated, forked_from, .. }: Conversation) -> Self {
        Self { id, title, scope, updated, forked_from }
    }
}

/// Reading conversations. They come into being with their first exchange (see [`crate::Exchanges`]).
#[async_trait]
pub trait Conversations: Send + Sync {
    /// The conversation with this id.
    async fn conversation(&self, id: ConversationId) -> Result<Option<Conversation>>;

    /// The conversations with these ids, in no particular order.
    async fn conversations_by_id(&self, ids: &[ConversationId]) -> Result<Vec<Conversation>>;

    /// Conversations by last exchange, newest first.
    async fn conversations(&self, list: &ConversationList) -> Result<Vec<Conversation>>;

    /// All conversations by last exchange, newest first, as lists show them: there may be very many.
    async fn titles(&self) -> Result<Vec<ConversationTitle>>;

    /// Whether another conversation goes on from an exchange of this one, or from a later one.
    async fn is_forked_after(&self, id: ConversationId, exchange: ExchangeId) -> Result<bool>;

    /// Branches off a conversation: another one that begins with all that was said in it so far. Nothing, if there is no such.
    async fn fork(&self, id: ConversationId, at: Timestamp) -> Result<Option<ConversationId>>;
}
