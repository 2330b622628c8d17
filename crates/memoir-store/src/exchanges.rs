//! Exchanges and their messages: committed whole, read back in order.

use async_trait::async_trait;
use memoir_core::{
    ConversationId, ConversationTarget, Exchange, ExchangeDraft, ExchangeId, Message, MessageId, Role,
    Timestamp,
};

use crate::Result;

/// Where a draft was filed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// Its conversation, new or not.
    pub conversation_id: ConversationId,
    /// Its id.
    pub exchange_id: ExchangeId,
}

impl Committed {
    /// Returns the target for the exchange that follows this one in the same conversation.
    pub fn to_target(self) -> ConversationTarget {
        ConversationTarget::Existing { conversation: self.conversation_id, last_seen: Some(self.exchange_id) }
    }
}

/// A conversation, a time, or both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// Only of this conversation.
    pub conversation: Option<ConversationId>,
    /// Nothing from before.
    pub since: Option<Timestamp>,
    /// Nothing from this moment on.
    pub until: Option<Timestamp>,
}

/// A message of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptMessage {
    /// The conversation.
    pub conversation_id: ConversationId,
    /// Who said it.
    pub role: Role,
    /// By name, where the talk was between people.
    pub author: Option<String>,
    /// When.
    pub created: Timestamp,
    /// What.
    pub text: String,
}

/// Writing and reading exchanges.
#[async_trait]
pub trait Exchanges: Send + Sync {
    /// Commits an exchange with its messages and costs in one transaction, and its conversation too if that is new. All
    /// of it is stored, or nothing is. The exchange comes after all that were committed to the conversation before.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::NotFound`](crate::StoreError::NotFound) if the conversation no longer exists, and with
    /// [`StoreError::Conflict`](crate::StoreError::Conflict) if it has an exchange that was committed after the one that
    /// `target` names as last seen. An exchange that was deleted since then is not a conflict.
    async fn commit_exchange(&self, target: &ConversationTarget, draft: &ExchangeDraft) -> Result<Committed>;

    /// Returns the last `limit` exchanges of a conversation, in the order in which they were committed. A fork begins with
    /// what it shares with its parent.
    async fn exchanges(&self, conversation: ConversationId, limit: u32) -> Result<Vec<Exchange>>;

    /// One exchange.
    async fn exchange(&self, id: ExchangeId) -> Result<Option<Exchange>>;

    /// Returns the messages of one exchange in the order of its draft, redacted ones included.
    async fn exchange_messages(&self, id: ExchangeId) -> Result<Vec<Message>>;

    /// Returns one message, redacted or not.
    async fn message(&self, id: MessageId) -> Result<Option<Message>>;

    /// Returns the messages of a conversation that are sent again: those of the exchanges committed after `after`, or all,
    /// in order, without redacted ones.
    async fn shown_messages(
        &self,
        conversation: ConversationId,
        after: Option<ExchangeId>,
    ) -> Result<Vec<Message>>;

    /// Returns at most `limit` messages of a conversation or a time, oldest first: those that are shown, without tool
    /// results. Messages of the same moment are in the order of the conversation.
    async fn transcript(&self, span: &Span, limit: u32) -> Result<Vec<TranscriptMessage>>;

    /// Returns the messages of the last `exchanges` exchanges of a conversation, in order, redacted ones included.
    async fn messages(&self, conversation: ConversationId, exchanges: u32) -> Result<Vec<Message>>;
}
