//! The built-in embedding model: all-MiniLM-L6-v2 fine-tuned for conversations, with 384 dimensions, 256 tokens and
//! 8-bit weights. `training/` contains its data, its scripts and its model card.
//!
//! Nothing is downloaded, and nothing is loaded at startup: the weights are part of the executable and are read when
//! the first text is embedded. Weights are 8-bit with one scale per row; activations are quantized to 8 bits token by
//! token. The matrix products therefore use integers (`kernel.rs`), which is several times as fast as 32-bit floating
//! point. The embeddings have a cosine of at least 0.99 with those of the 32-bit encoder.

mod encoder;
mod error;
mod kernel;
mod linear;
mod tokens;
mod weights;

use std::sync::LazyLock;

use async_trait::async_trait;
use memoir_core::{Usage, Usd};
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, ModelError};

use encoder::Encoder;
use error::AssetError;
use tokens::Tokens;

/// Full name of the model. Another encoder needs another version, so that memories are embedded again.
pub const NAME: &str = "memoir/conversation-minilm-v1";

/// Number of dimensions of an embedding.
pub const DIMENSIONS: usize = 384;

struct LoadedModel {
    tokens: Tokens,
    encoder: Encoder,
}

static MODEL: LazyLock<Result<LoadedModel, AssetError>> =
    LazyLock::new(|| Ok(LoadedModel { tokens: Tokens::load()?, encoder: Encoder::load()? }));

/// Number of texts to embed before checking for cancellation.
const BATCH_SIZE: usize = 8;

/// Embeds texts on all cores. Blocks until done.
///
/// # Errors
///
/// Fails if the built-in model is damaged or a thread panics.
pub fn embed_blocking(texts: &[String]) -> Result<EmbeddedTexts, ModelError> {
    let model = MODEL.as_ref().map_err(|error| ModelError::InvalidResponse(error.to_string()))?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(texts.len()).max(1);
    let part_size = texts.len().div_ceil(threads).max(1);
    let parts: Vec<Result<EmbeddedTexts, ModelError>> = std::thread::scope(|scope| {
        // The current thread embeds the first part.
        let mut parts = texts.chunks(part_size);
        let first = parts.next();
        let others: Vec<_> = parts.map(|texts| scope.spawn(|| model.embed(texts))).collect();
        let first = first.map(|texts| Ok(model.embed(texts)));
        let panicked = |_| ModelError::InvalidResponse("an embedding thread panicked".into());
        let others = others.into_iter().map(|thread| thread.join().map_err(panicked));
        first.into_iter().chain(others).collect()
    });
    let mut all = EmbeddedTexts::default();
    for part in parts {
        let part = part?;
        all.vectors.extend(part.vectors);
        all.usage += part.usage;
    }
    Ok(all)
}

impl LoadedModel {
    fn embed(&self, texts: &[String]) -> EmbeddedTexts {
        let mut all = EmbeddedTexts::default();
        let mut buffers = encoder::EncoderBuffers::default();
        for text in texts {
            let ids = self.tokens.ids(text);
            all.usage.input_tokens += ids.len() as u64;
            all.vectors.push(self.encoder.encode(&ids, &mut buffers));
        }
        all
    }
}

/// The built-in model as an [`Embedder`].
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalEmbedder;

#[async_trait]
impl Embedder for LocalEmbedder {
    fn name(&self) -> &str {
        NAME
    }

    fn dimensions(&self) -> Option<usize> {
        Some(DIMENSIONS)
    }

    async fn embed(&self, texts: &[String], _task: EmbedTask) -> Result<EmbeddedTexts, ModelError> {
        let mut all = EmbeddedTexts::default();
        // A blocking task cannot be cancelled, so small batches let a dropped future stop early.
        for batch in texts.chunks(BATCH_SIZE) {
            let batch = batch.to_vec();
            let embedded = tokio::task::spawn_blocking(move || embed_blocking(&batch))
                .await
                .map_err(|error| ModelError::InvalidResponse(error.to_string()))??;
            all.vectors.extend(embedded.vectors);
            all.usage += embedded.usage;
        }
        Ok(all)
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        Some(Usd::ZERO)
    }

    fn max_tokens(&self) -> usize {
        tokens::MAX_TOKENS
    }

    fn count_tokens(&self, text: &str) -> usize {
        MODEL.as_ref().map_or_else(
            |error| {
                // Embedding fails for the same reason and reports the error to the user.
                tracing::debug!(%error, "cannot count tokens");
                0
            },
            |model| model.tokens.count(text),
        )
    }

    fn is_local(&self) -> bool {
        true
    }
}
