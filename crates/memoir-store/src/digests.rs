//! Digests: summaries that replace the part of a conversation that no longer fits the context window.

use async_trait::async_trait;
use memoir_core::{ConversationId, Digest, ExchangeId, PreparedSummary, Timestamp};

use crate::Result;

/// Stores and reads digests.
///
/// Writers pass the exchange through which the digest they read extends as `previous_through`, or `None` if there was
/// no digest. A write whose `previous_through` is outdated is refused, because another process has moved the window in
/// the meantime.
#[async_trait]
pub trait Digests: Send + Sync {
    /// Returns the digest of a conversation, if part of it has left the window.
    async fn digest(&self, conversation: ConversationId) -> Result<Option<Digest>>;

    /// Replaces the digest. Returns `false` if `previous_through` is outdated.
    async fn put_digest(
        &self,
        conversation: ConversationId,
        previous_through: Option<ExchangeId>,
        digest: &Digest,
        now: Timestamp,
    ) -> Result<bool>;

    /// Requests a summary in advance, for when everything up to `through` has left the window.
    async fn request_digest(
        &self,
        conversation: ConversationId,
        previous_through: Option<ExchangeId>,
        through: ExchangeId,
        now: Timestamp,
    ) -> Result<()>;

    /// Stores a summary written in advance and leaves the rest of the digest unchanged. Returns `false` if
    /// `previous_through` is outdated.
    async fn prepare_digest(
        &self,
        conversation: ConversationId,
        previous_through: Option<ExchangeId>,
        prepared: &PreparedSummary,
        now: Timestamp,
    ) -> Result<bool>;
}
