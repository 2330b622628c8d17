//! Exchanges and their messages. An exchange is committed as a whole and read back in order.

use async_trait::async_trait;
use memoir_core::{
    ConversationId, ConversationTarget, Exchange, ExchangeDraft, ExchangeId, Message, MessageId, Role,
    Timestamp,
};

use crate::Result;

/// The ids of a committed exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommittedExchange {
    /// Conversation of the exchange, which may be new.
    pub conversation_id: ConversationId,
    /// Id of the exchange.
    pub exchange_id: ExchangeId,
}

impl CommittedExchange {
    /// Returns the target for the exchange that follows this one in the same conversation.
    pub fn to_target(self) -> ConversationTarget {
        ConversationTarget::Existing { conversation: self.conversation_id, last_seen: Some(self.exchange_id) }
    }
}

/// Selects messages by conversation, time range or both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// Only messages of this conversation.
    pub conversation: Option<ConversationId>,
    /// Start of the time range, inclusive.
    pub since: Option<Timestamp>,
    /// End of the time range, exclusive.
    pub until: Option<Timestamp>,
}

/// A message as a transcript shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptMessage {
    /// Conversation that the message belongs to.
    pub conversation_id: ConversationId,
    /// Role of the sender.
    pub role: Role,
    /// Name of the sender, in conversations between people.
    pub author: Option<String>,
    /// When the message was sent.
    pub created: Timestamp,
    /// Text of the message.
    pub text: String,
}

/// Stores and reads exchanges.
#[async_trait]
pub trait Exchanges: Send + Sync {
    /// Commits an exchange with its messages and costs, and its conversation if that is new, in one transaction. The
    /// exchange follows all those committed to the conversation before.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::NotFound`](crate::StoreError::NotFound) if the conversation no longer exists, and with
    /// [`StoreError::Conflict`](crate::StoreError::Conflict) if it has an exchange that was committed after the one
    /// that `target` names as last seen. An exchange that was deleted since then is not a conflict.
    async fn commit_exchange(
        &self,
        target: &ConversationTarget,
        draft: &ExchangeDraft,
    ) -> Result<CommittedExchange>;

    /// Returns the last `limit` exchanges of a conversation in commit order. A fork starts with the exchanges it shares
    /// with its parent.
    async fn exchanges(&self, conversation: ConversationId, limit: u32) -> Result<Vec<Exchange>>;

    /// Returns the last `limit` exchanges of a conversation that were committed before `before`, in commit order.
    async fn exchanges_before(
        &self,
        conversation: ConversationId,
        before: ExchangeId,
        limit: u32,
    ) -> Result<Vec<Exchange>>;

    /// Returns the exchange with this id.
    async fn exchange(&self, id: ExchangeId) -> Result<Option<Exchange>>;

    /// Returns the messages of an exchange in the order of its draft, including hidden ones
    /// ([`Visibility::Hidden`](memoir_core::Visibility::Hidden)).
    async fn exchange_messages(&self, id: ExchangeId) -> Result<Vec<Message>>;

    /// Returns the message with this id, hidden or not.
    async fn message(&self, id: MessageId) -> Result<Option<Message>>;

    /// Returns the messages that are sent again in later requests, in order and without hidden ones. With `after`, only
    /// those of exchanges committed after it.
    async fn shown_messages(
        &self,
        conversation: ConversationId,
        after: Option<ExchangeId>,
    ) -> Result<Vec<Message>>;

    /// Returns at most `limit` messages, oldest first, without hidden ones and tool results. Messages with the same
    /// timestamp are in the order of the conversation.
    async fn transcript(&self, span: &Span, limit: u32) -> Result<Vec<TranscriptMessage>>;

    /// Returns the messages of the last `exchanges` exchanges of a conversation, in order, including hidden ones.
    async fn messages(&self, conversation: ConversationId, exchanges: u32) -> Result<Vec<Message>>;
}
