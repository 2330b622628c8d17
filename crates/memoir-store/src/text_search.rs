//! Full-text search over what was said.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, MessageId, Role, Timestamp};

use crate::Result;

/// What to look for.
#[derive(Debug, Clone)]
pub struct TextSearchRequest {
    /// The words, in any form a person types. Messages with any of them match; more and rarer words
    /// rank higher.
    pub text: String,
    /// At most so many hits.
    pub limit: u32,
}

/// A message that matched.
#[derive(Debug, Clone, PartialEq)]
pub struct TextHit {
    /// The message.
    pub message_id: MessageId,
    /// Its exchange.
    pub exchange_id: ExchangeId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// Who said it.
    pub role: Role,
    /// All of its text.
    pub text: String,
    /// When it was said.
    pub created: Timestamp,
    /// How well it matches: BM25, higher is better.
    pub score: f64,
}

/// Searching text.
#[async_trait]
pub trait TextSearch: Send + Sync {
    /// The best hits, best first. Redacted and derived messages are never among them.
    async fn search_text(&self, request: &TextSearchRequest) -> Result<Vec<TextHit>>;
}
