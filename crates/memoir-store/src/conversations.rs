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
    /// At most so many.
    pub limit: u32,
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

    /// Whether another conversation goes on from an exchange of this one, or from a later one.
    async fn is_forked_after(&self, id: ConversationId, exchange: ExchangeId) -> Result<bool>;

    /// Branches off a conversation: another one that begins with all that was said in it so far. Nothing, if there is no such.
    async fn fork(&self, id: ConversationId, at: Timestamp) -> Result<Option<ConversationId>>;
}
