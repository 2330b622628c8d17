//! Vectors: what has none yet, keeping them, and counting them.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, Subject, SubjectKind};

use crate::Result;

/// Whose vectors texts should have, and which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Embeddable<'a> {
    /// The model.
    pub model: &'a str,
    /// Messages of fewer tokens mean nothing by themselves. Summaries are never too short.
    pub shortest: u32,
}

/// A text that is to have a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    /// What it is, or what it summarises.
    pub subject: Subject,
    /// Its conversation, if it is of one.
    pub conversation_id: Option<ConversationId>,
    /// Who said it, by name, where the talk was between people; the title of a document.
    pub author: Option<String>,
    /// What it says.
    pub text: String,
}

/// A vector to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEmbedding {
    /// What it stands for.
    pub subject: Subject,
    /// The vector, of length one.
    pub vector: Vec<f32>,
    /// What it was made of: of a summary that has changed since, none is kept.
    pub text: String,
}

/// How many vectors there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingCount {
    /// Whose.
    pub model: String,
    /// Of what.
    pub kind: SubjectKind,
    /// How many.
    pub count: u64,
}

/// Giving texts their vectors. Only shown, said messages take part.
#[async_trait]
pub trait Embeddings: Send + Sync {
    /// The newest messages without a vector, whoever may be at them.
    async fn unembedded(&self, wanted: &Embeddable<'_>, limit: u32) -> Result<Vec<Unembedded>>;

    /// The same of one exchange, however much else there is.
    async fn unembedded_of(&self, exchange: ExchangeId, wanted: &Embeddable<'_>) -> Result<Vec<Unembedded>>;

    /// The texts of some subjects, or their summaries. What is gone is left out.
    async fn embeddable_texts(&self, subjects: &[Subject]) -> Result<Vec<Unembedded>>;

    /// Keeps vectors of `model`, all of them or none; the work is done with that. One that is there already is left as it
    /// is, and of what is gone none is kept.
    async fn put_embeddings(&self, model: &str, embeddings: &[NewEmbedding]) -> Result<()>;

    /// How many messages, summaries or chunks wait for a vector.
    async fn unembedded_count(&self, kind: SubjectKind, wanted: &Embeddable<'_>) -> Result<u64>;

    /// How many vectors there are, by model and kind.
    async fn embedding_counts(&self) -> Result<Vec<EmbeddingCount>>;

    /// Deletes the vectors of every model so that they are recomputed. Returns the number deleted.
    async fn delete_embeddings(&self) -> Result<u64>;
}
