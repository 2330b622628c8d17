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
    /// Files summaries of exchanges, all of them or none; the work is done with that. Of one that is gone nothing is filed.
    async fn put_exchange_summaries(&self, summaries: &[(ExchangeId, Summary)]) -> Result<()>;

    /// Files the summary of a conversation, with a title where it brings one. `exchanges` is how many there were up to where it
    /// goes; if some of them are gone, it tells of what was deleted, and is not filed. Says whether it was.
    async fn put_conversation_summary(
        &self,
        conversation: ConversationId,
        summary: &ConversationSummary,
        exchanges: u64,
        title: Option<&str>,
    ) -> Result<bool>;

    /// The summary of an exchange.
    async fn exchange_summary(&self, exchange: ExchangeId) -> Result<Option<Summary>>;

    /// The summary of a conversation.
    async fn conversation_summary(&self, conversation: ConversationId)
    -> Result<Option<ConversationSummary>>;
}
