//! Exchanges and their messages: committed whole, read back in order.

use async_trait::async_trait;
use memoir_core::{
    ConversationId, ConversationTarget, Exchange, ExchangeDraft, ExchangeId, Message, Role, Timestamp,
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

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
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
    /// Files an exchange with its messages and costs in one transaction, and its conversation too if that
    /// is new. All of it is there afterwards, or nothing is.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`](crate::StoreError::Conflict) if the conversation has an exchange that was committed after the
    /// one that `target` names as last seen. An exchange that was deleted since then is not a conflict.
    async fn commit_exchange(&self, target: &ConversationTarget, draft: &ExchangeDraft) -> Result<Committed>;

    /// The exchanges of a conversation, oldest first; the last `limit` of them.
    async fn exchanges(&self, conversation: ConversationId, limit: u32) -> Result<Vec<Exchange>>;

    /// One exchange.
    async fn exchange(&self, id: ExchangeId) -> Result<Option<Exchange>>;

    /// The messages of one exchange, in order, redacted ones included.
    async fn exchange_messages(&self, id: ExchangeId) -> Result<Vec<Message>>;

    /// What is sent again of a conversation: its messages after an exchange, or all, oldest first, without redacted ones.
    async fn shown_messages(
        &self,
        conversation: ConversationId,
        after: Option<ExchangeId>,
    ) -> Result<Vec<Message>>;

    /// What was said in a conversation or a time, oldest first, so much at most: what is shown, and no tool's words.
    async fn said(&self, span: &Span, limit: u32) -> Result<Vec<Said>>;

    /// The messages of a conversation's last `exchanges` exchanges, oldest first, redacted ones included.
    async fn messages(&self, conversation: ConversationId, exchanges: u32) -> Result<Vec<Message>>;
}
