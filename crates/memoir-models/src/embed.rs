//! The interface to embedding models.

use async_trait::async_trait;
use memoir_core::{Usage, Usd, count_tokens};

use crate::ModelError;

/// The role of the embedded texts. Some models embed queries and documents differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedTask {
    /// The texts are search queries.
    Query,
    /// The texts are passages to be searched.
    Document,
}

/// The embeddings of a list of texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EmbeddedTexts {
    /// One vector per text, in the order of the texts.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens used by the call.
    pub usage: Usage,
}

/// An embedding model.
///
/// Implementations are in `memoir-providers` (models on a server) and `memoir-embed` (the built-in model, and
/// models in a directory).
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Returns the full name, as in `openai/text-embedding-3-small`.
    fn name(&self) -> &str;

    /// Returns the vector length, if it is known before the first call.
    fn dimensions(&self) -> Option<usize>;

    /// Embeds all of `texts`, or none. The vectors are normalized to unit length.
    ///
    /// # Errors
    ///
    /// Fails if any of the texts cannot be embedded.
    async fn embed(&self, texts: &[String], task: EmbedTask) -> Result<EmbeddedTexts, ModelError>;

    /// Returns the cost of a call, or `None` if the price is unknown.
    fn cost(&self, usage: &Usage) -> Option<Usd>;

    /// Returns the maximum number of tokens per text. The model ignores the rest of a longer text.
    fn max_tokens(&self) -> usize {
        2048
    }

    /// Returns the approximate number of tokens in `text`, as counted by this model.
    fn count_tokens(&self, text: &str) -> usize {
        count_tokens(text)
    }

    /// Returns whether the model runs in this process, so that no text is sent anywhere.
    fn is_local(&self) -> bool {
        false
    }

    /// Returns whether calls are free of charge.
    fn is_free(&self) -> bool {
        self.is_local()
    }

    /// Returns the mean and the standard deviation of the cosine of a question and an unrelated text, if they are known
    /// from measurements. Thresholds of similarity depend on them.
    fn unrelated_cosines(&self) -> Option<(f64, f64)> {
        None
    }

    /// Returns whether the model can be called with the current configuration.
    fn is_available(&self) -> bool {
        true
    }
}
