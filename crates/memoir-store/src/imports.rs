//! What was brought in from elsewhere, and how much of it.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeDraft, ExchangeId, NewConversation};

use crate::Result;

/// A conversation that was brought in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// By what it is known again.
    pub origin: String,
    /// What it is here.
    pub conversation_id: ConversationId,
    /// How many messages of it are here.
    pub messages: u64,
    /// A sum over them.
    pub checksum: String,
}

/// More of a conversation from elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct NewImport<'a> {
    /// By what it is known again.
    pub origin: &'a str,
    /// What it is to be here, if it is not yet.
    pub conversation: &'a NewConversation,
    /// How much of it was here when it was looked at, and the sum over that.
    pub seen: Option<(u64, &'a str)>,
    /// The last exchange of the conversation when it was looked at, whether it was brought in or said here.
    pub last_seen: Option<ExchangeId>,
    /// What is new in it.
    pub exchanges: &'a [ExchangeDraft],
    /// How many messages of it are here with that.
    pub messages: u64,
    /// A sum over all of them.
    pub checksum: &'a str,
}

/// Bringing in talk from elsewhere.
#[async_trait]
pub trait Imports: Send + Sync {
    /// What is here of conversations from elsewhere whose origins begin so.
    async fn imports(&self, origin: &str) -> Result<Vec<Import>>;

    /// By what a conversation that was brought in is known again.
    async fn origin_of(&self, conversation: ConversationId) -> Result<Option<String>>;

    /// Files more of one, and how much there is now, in one transaction. Nothing, if someone else has filed some of it meanwhile.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`](crate::StoreError::Conflict) if the conversation has gone on since `new.last_seen`.
    async fn put_import(&self, new: &NewImport<'_>) -> Result<Option<ConversationId>>;
}
