//! Summaries of exchanges and conversations.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, Summary};

use crate::Result;

/// A conversation's summary, and how far it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationSummary {
    /// What was said.
    pub summary: Summary,
    /// The last exchange that it tells of.
    pub through: ExchangeId,
}

/// Writing and reading summaries.
#[async_trait]
pub trait Summaries: Send + Sync {
    /// Files the summary of an exchange; the work is done with that. Says whether there still is such an exchange.
    async fn put_exchange_summary(&self, exchange: ExchangeId, summary: &Summary) -> Result<bool>;

    /// The same for a conversation, with a title where the summary brings one.
    async fn put_conversation_summary(
        &self,
        conversation: ConversationId,
        summary: &ConversationSummary,
        title: Option<&str>,
    ) -> Result<bool>;

    /// The summary of an exchange.
    async fn exchange_summary(&self, exchange: ExchangeId) -> Result<Option<Summary>>;

    /// The summary of a conversation.
    async fn conversation_summary(&self, conversation: ConversationId)
    -> Result<Option<ConversationSummary>>;
}
