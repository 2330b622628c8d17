//! Digests: what is sent in the place of what has left a conversation's window.

use async_trait::async_trait;
use memoir_core::{ConversationId, Digest, ExchangeId, Prepared, Timestamp};

use crate::Result;

/// Reading and writing digests.
#[async_trait]
pub trait Digests: Send + Sync {
    /// The digest of a conversation, if anything has left its window.
    async fn digest(&self, conversation: ConversationId) -> Result<Option<Digest>>;

    /// Puts a digest in the place of the one that goes as far as `seen`. Says whether it did: another process may have
    /// moved the window meanwhile, and what it wrote stands.
    async fn put_digest(
        &self,
        conversation: ConversationId,
        seen: Option<ExchangeId>,
        digest: &Digest,
        now: Timestamp,
    ) -> Result<bool>;

    /// Asks for a summary for the next time, for when everything up to `through` has left: of the digest that goes as far as
    /// `seen`, or of none.
    async fn want_digest(
        &self,
        conversation: ConversationId,
        seen: Option<ExchangeId>,
        through: ExchangeId,
        now: Timestamp,
    ) -> Result<()>;

    /// Adds a summary for the next time to the digest that goes as far as `seen`, or to none, and changes nothing else. Says
    /// whether it did.
    async fn prepare_digest(
        &self,
        conversation: ConversationId,
        seen: Option<ExchangeId>,
        prepared: &Prepared,
        now: Timestamp,
    ) -> Result<bool>;
}
