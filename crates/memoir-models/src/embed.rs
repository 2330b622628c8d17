//! Embedding models: texts in, vectors out.

use async_trait::async_trait;
use memoir_core::{Usage, Usd, count_tokens};

use crate::ModelError;

/// What texts are embedded for. Some models place a question and its answer apart unless told which is which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedTask {
    /// To look for.
    Query,
    /// To be found.
    Document,
}

/// Vectors, in the order of their texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EmbeddedTexts {
    /// One vector per text.
    pub vectors: Vec<Vec<f32>>,
    /// What it used.
    pub usage: Usage,
}

/// An embedding model.
///
/// Implementations are in `memoir-providers` (models on a server) and `memoir-embed` (the one that is compiled in).
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Its full name, as in `openai/text-embedding-3-small`.
    fn name(&self) -> &str;

    /// The length of its vectors, where that is known before the first.
    fn dimensions(&self) -> Option<usize>;

    /// Embeds all of `texts`, or none. The vectors have length one and come in the order of the texts.
    ///
    /// # Errors
    ///
    /// Fails with the reason, as a [`ModelError`], if any of the texts cannot be embedded.
    async fn embed(&self, texts: &[String], task: EmbedTask) -> Result<EmbeddedTexts, ModelError>;

    /// What a call that used this much costs, where the price is known.
    fn cost(&self, usage: &Usage) -> Option<Usd>;

    /// How many tokens of a text it reads; what comes after is as if it were not there.
    fn reads(&self) -> usize {
        2048
    }

    /// How many of its own tokens a text has, about.
    fn count(&self, text: &str) -> usize {
        count_tokens(text)
    }

    /// Whether it runs in this program: nothing leaves it, and nothing is paid.
    fn is_local(&self) -> bool {
        false
    }

    /// Whether it costs nothing.
    fn is_free(&self) -> bool {
        self.is_local()
    }

    /// Whether it can be called as things are set up.
    fn is_available(&self) -> bool {
        true
    }
}
