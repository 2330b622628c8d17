//! Embeddings: which texts still need one, storing them, and counting them.

use std::ops::Range;

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, Subject, SubjectKind};

use crate::Result;

/// Selects the texts that should have an embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddingSelection<'a> {
    /// Embedding model. A text is selected if it has no embedding of this model.
    pub model: &'a str,
    /// Minimum number of tokens in a message. Shorter messages mean little on their own. Does not apply to summaries.
    pub min_tokens: u32,
}

/// A text to embed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnembeddedText {
    /// The message or chunk itself, or the exchange or conversation that the text summarizes.
    pub subject: Subject,
    /// Conversation that the text belongs to; `None` for a chunk.
    pub conversation_id: Option<ConversationId>,
    /// Name of the sender in conversations between people, or the title of a chunk's document.
    pub author: Option<String>,
    /// Text of the message, summary or chunk.
    pub text: String,
}

/// The embeddings of a message or summary to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEmbedding {
    /// Subject that was embedded.
    pub subject: Subject,
    /// Byte range of each part in the text, and its embedding, normalized to length 1. Only a long message has several.
    pub parts: Vec<(Range<usize>, Vec<f32>)>,
    /// Text that was embedded. If a summary has changed since, its embedding is dropped.
    pub text: String,
}

/// The number of embeddings of one model and kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingCount {
    /// Embedding model that produced them.
    pub model: String,
    /// Kind of subject that was embedded.
    pub kind: SubjectKind,
    /// Number of stored embeddings. A long message or chunk has several.
    pub count: u64,
}

/// Finds texts to embed and stores embeddings. Covers only messages that are
/// [shown](memoir_core::Visibility::Shown) and [original](memoir_core::Provenance::Original).
#[async_trait]
pub trait Embeddings: Send + Sync {
    /// Returns the newest messages without an embedding, including ones that a worker is processing.
    async fn unembedded(
        &self,
        embeddable: &EmbeddingSelection<'_>,
        limit: u32,
    ) -> Result<Vec<UnembeddedText>>;

    /// Returns all messages of one exchange without an embedding.
    async fn unembedded_in_exchange(
        &self,
        exchange: ExchangeId,
        embeddable: &EmbeddingSelection<'_>,
    ) -> Result<Vec<UnembeddedText>>;

    /// Returns the texts or summaries of these subjects. Deleted subjects are skipped.
    async fn embeddable_texts(&self, subjects: &[Subject]) -> Result<Vec<UnembeddedText>>;

    /// Stores embeddings of `model` and completes their jobs, in one transaction. Existing embeddings are not replaced,
    /// and embeddings of deleted subjects are dropped.
    async fn put_embeddings(&self, model: &str, embeddings: &[NewEmbedding]) -> Result<()>;

    /// Returns the number of messages, summaries or chunks without an embedding.
    async fn unembedded_count(&self, kind: SubjectKind, embeddable: &EmbeddingSelection<'_>) -> Result<u64>;

    /// Returns the number of embeddings by model and kind.
    async fn embedding_counts(&self) -> Result<Vec<EmbeddingCount>>;

    /// Deletes the embeddings of every model so that they are recomputed. Returns the number deleted.
    async fn delete_embeddings(&self) -> Result<u64>;
}
