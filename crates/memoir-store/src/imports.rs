//! Conversations imported from other programs, and how much of each one has been imported.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeDraft, ExchangeId, NewConversation, Timestamp};

use crate::Result;

/// A conversation that was imported, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Stable identifier of the conversation in the program it came from.
    pub origin: String,
    /// The conversation it became in this store.
    pub conversation_id: ConversationId,
    /// Number of messages imported so far.
    pub messages: u64,
    /// Checksum of the imported messages.
    pub checksum: String,
    /// Time of the latest imported message, if it was recorded.
    pub through: Option<Timestamp>,
}

/// More exchanges of a conversation that is being imported.
#[derive(Debug, Clone, Copy)]
pub struct NewImport<'a> {
    /// See [`Import::origin`].
    pub origin: &'a str,
    /// The conversation to create if nothing has been imported from `origin` yet.
    pub conversation: &'a NewConversation,
    /// Number and checksum of the messages that were already imported when the caller checked.
    pub previous: Option<(u64, &'a str)>,
    /// Last exchange of the conversation when the caller checked, imported or not.
    pub last_seen: Option<ExchangeId>,
    /// Exchanges to add, oldest first.
    pub exchanges: &'a [ExchangeDraft],
    /// Number of imported messages, including the ones being added.
    pub messages: u64,
    /// Checksum of all imported messages, including the ones being added.
    pub checksum: &'a str,
    /// Time of the latest imported message.
    pub through: Option<Timestamp>,
}

/// Records which conversations were imported, so that an import can be repeated and continued.
#[async_trait]
pub trait Imports: Send + Sync {
    /// Returns all imports whose origin starts with `origin`.
    async fn imports(&self, origin: &str) -> Result<Vec<Import>>;

    /// Returns the origin of a conversation, or `None` if it was not imported.
    async fn import_origin(&self, conversation: ConversationId) -> Result<Option<String>>;

    /// Returns when the conversation with this origin was last forgotten as a whole, or `None` if it never was.
    async fn forgotten_at(&self, origin: &str) -> Result<Option<Timestamp>>;

    /// Returns which of these exchanges are stored already: with the same program, prompt and times.
    async fn are_stored(&self, exchanges: &[ExchangeDraft]) -> Result<Vec<bool>>;

    /// Adds exchanges to an import and updates its progress, in one transaction. Returns `None` and stores nothing if
    /// another process has imported from the same origin since `new.previous`.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::Conflict`](crate::StoreError::Conflict) if the conversation has an exchange newer than
    /// `new.last_seen`.
    async fn put_import(&self, new: &NewImport<'_>) -> Result<Option<ConversationId>>;
}
