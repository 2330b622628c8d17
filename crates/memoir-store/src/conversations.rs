//! Finding, listing and forking conversations.

use async_trait::async_trait;
use memoir_core::{Conversation, ConversationId, ExchangeId, Timestamp};

use crate::Result;

/// Selects conversations to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct ConversationList {
    /// Only conversations of this project.
    pub scope: Option<String>,
    /// Only conversations that a program that works for this project may see.
    pub visible_to: Option<String>,
    /// Only conversations whose title contains this text.
    pub matching: Option<String>,
    /// Skip conversations that consist of imported exchanges only.
    pub exclude_imported: bool,
    /// Skip conversations that consist of questions answered from memory only.
    pub exclude_lookups: bool,
    /// Only conversations that come after this one in the list.
    pub after: Option<ListPosition>,
    /// Maximum number of conversations.
    pub limit: u32,
}

/// The position of a conversation in a list that is sorted by the time of its last exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPosition {
    /// Latest completion time of its exchanges.
    pub updated: Timestamp,
    /// Id of the conversation.
    pub id: ConversationId,
}

/// The parts of a conversation that a list shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationTitle {
    /// Id that the user types to resume the conversation.
    pub id: ConversationId,
    /// Title, initially the beginning of the first prompt.
    pub title: String,
    /// Project (a directory) that the conversation belongs to.
    pub scope: String,
    /// Latest completion time of its exchanges.
    pub updated: Timestamp,
    /// Conversation that this one was forked from.
    pub forked_from: Option<ConversationId>,
    /// Whether it consists of one exchange only.
    pub is_single: bool,
}

impl From<Conversation> for ConversationTitle {
    fn from(conversation: Conversation) -> Self {
        let Conversation { id, title, scope, updated, forked_from, exchange_count, .. } = conversation;
        Self {
            id,
            title,
            scope,
            updated,
            forked_from,
            is_single: forked_from.is_none() && exchange_count == 1,
        }
    }
}

/// Reads and forks conversations. Committing the first exchange creates one (see [`crate::Exchanges`]).
#[async_trait]
pub trait Conversations: Send + Sync {
    /// Returns the conversation with this id.
    async fn conversation(&self, id: ConversationId) -> Result<Option<Conversation>>;

    /// Returns the conversations with these ids, in no particular order.
    async fn conversations_by_id(&self, ids: &[ConversationId]) -> Result<Vec<Conversation>>;

    /// Returns the selected conversations, most recently updated first.
    async fn conversations(&self, list: &ConversationList) -> Result<Vec<Conversation>>;

    /// Returns the titles of the conversations that a user may want to resume, most recently updated first: all but
    /// those that consist of questions answered from memory only. Reads less than
    /// [`conversations`](Self::conversations), for lists of many conversations.
    async fn titles(&self) -> Result<Vec<ConversationTitle>>;

    /// Returns whether another conversation was forked from `exchange` or from a later exchange of this one.
    async fn is_forked_after(&self, id: ConversationId, exchange: ExchangeId) -> Result<bool>;

    /// Shares a conversation with programs that work for any project, or stops that. Returns whether the conversation
    /// exists.
    async fn set_shared(&self, id: ConversationId, is_shared: bool) -> Result<bool>;

    /// Forks a conversation: the new one starts with all exchanges of the original. Returns `None` if `id` does not
    /// exist.
    async fn fork(&self, id: ConversationId, at: Timestamp) -> Result<Option<ConversationId>>;
}
