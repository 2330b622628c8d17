//! Summaries of exchanges and conversations.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, Summary};

use crate::Result;

/// A conversation's summary and the part of the conversation it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationSummary {
    /// The text and the model that wrote it.
    pub summary: Summary,
    /// Last exchange that the summary covers.
    pub through: ExchangeId,
}

/// Stores and reads summaries.
#[async_trait]
pub trait Summaries: Send + Sync {
    /// Stores summaries of exchanges and completes their jobs, in one transaction. Summaries of deleted exchanges are
    /// dropped.
    async fn put_exchange_summaries(&self, summaries: &[(ExchangeId, Summary)]) -> Result<()>;

    /// Stores the summary of a conversation, along with a new title if there is one, and completes its job.
    ///
    /// `exchanges` is the number of exchanges the summary covers. If some of them have been deleted, the summary
    /// describes deleted content and is dropped. Returns whether it was stored.
    async fn put_conversation_summary(
        &self,
        conversation: ConversationId,
        summary: &ConversationSummary,
        exchanges: u64,
        title: Option<&str>,
    ) -> Result<bool>;

    /// Returns the summary of an exchange, if it has one.
    async fn exchange_summary(&self, exchange: ExchangeId) -> Result<Option<Summary>>;

    /// Returns the summary of a conversation, if it has one.
    async fn conversation_summary(&self, conversation: ConversationId)
    -> Result<Option<ConversationSummary>>;
}
