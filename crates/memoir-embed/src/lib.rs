//! The built-in models: an embedding model and a reader. The first is all-MiniLM-L6-v2 fine-tuned for conversations,
//! with 384 dimensions, 256 tokens and 8-bit weights. The second (`reader.rs`) finds the sentence that answers a
//! question. `training/` contains their data, their scripts and their model cards.
//!
//! Nothing is downloaded, and nothing is loaded at startup: the weights are part of the executable and are loaded with
//! the first text. Weights are 8-bit with one scale per row; activations are quantized to 8 bits token by token. The
//! matrix products therefore use integers (`kernel.rs`), which is several times as fast as 32-bit floating point. The
//! embeddings have a cosine of at least 0.99 with those of the 32-bit encoder.

mod encoder;
mod error;
mod kernel;
mod linear;
mod reader;
mod tokens;
mod weights;

use std::sync::LazyLock;

use async_trait::async_trait;
use memoir_core::{Usage, Usd};
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, ModelError};

use encoder::{EncoderBuffers, Layers, TokenEmbeddings, dot, sum_states};
use error::AssetError;
pub use reader::{LocalReader, read_blocking};
use tokens::Tokens;
use weights::WeightFile;

/// Full name of the model. Another encoder needs another version, so that memories are embedded again.
pub const NAME: &str = "memoir/conversation-minilm-v1";

/// Number of dimensions of an embedding.
pub const DIMENSIONS: usize = 384;

struct Encoder {
    tokens: Tokens,
    embeddings: TokenEmbeddings,
    layers: Layers,
}

static ENCODER: LazyLock<Result<Encoder, AssetError>> = LazyLock::new(Encoder::load);

/// Number of texts to embed before checking for cancellation.
const BATCH_SIZE: usize = 8;

/// Embeds texts on all cores. Blocks until done.
///
/// # Errors
///
/// Fails if the built-in model is damaged or a thread panics.
pub fn embed_blocking(texts: &[String]) -> Result<EmbeddedTexts, ModelError> {
    let model = Encoder::get()?;
    let mut all = EmbeddedTexts::default();
    for (tokens, vector) in in_parallel(texts, |text, buffers| model.embed(text, buffers))? {
        all.usage.input_tokens += tokens;
        all.vectors.push(vector);
    }
    Ok(all)
}

/// Calls a function for each item on all cores, and returns the results in the order of the items.
fn in_parallel<Item: Sync, Output: Send>(
    items: &[Item],
    call: impl Fn(&Item, &mut EncoderBuffers) -> Output + Sync,
) -> Result<Vec<Output>, ModelError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len()).max(1);
    let part_size = items.len().div_ceil(threads).max(1);
    let call_all = |items: &[Item]| {
        let mut buffers = EncoderBuffers::default();
        items.iter().map(|item| call(item, &mut buffers)).collect::<Vec<_>>()
    };
    let parts: Vec<Result<Vec<Output>, ModelError>> = std::thread::scope(|scope| {
        // The current thread does the first part.
        let mut parts = items.chunks(part_size);
        let first = parts.next();
        let others: Vec<_> = parts.map(|items| scope.spawn(|| call_all(items))).collect();
        let first = first.map(|items| Ok(call_all(items)));
        let panicked = |_| ModelError::InvalidResponse("an embedding thread panicked".into());
        let others = others.into_iter().map(|thread| thread.join().map_err(panicked));
        first.into_iter().chain(others).collect()
    });
    let parts: Vec<Vec<Output>> = parts.into_iter().collect::<Result<_, _>>()?;
    Ok(parts.into_iter().flatten().collect())
}

impl Encoder {
    fn load() -> Result<Self, AssetError> {
        let weights = WeightFile::open_encoder()?;
        Ok(Self {
            tokens: Tokens::load()?,
            embeddings: TokenEmbeddings::load(&weights)?,
            layers: Layers::load(&weights)?,
        })
    }

    /// Returns the encoder, which is loaded first if this is the first call.
    fn get() -> Result<&'static Self, ModelError> {
        ENCODER.as_ref().map_err(AssetError::to_model_error)
    }

    /// Returns the number of tokens of a text, and its embedding: the mean of all tokens with unit length.
    fn embed(&self, text: &str, buffers: &mut EncoderBuffers) -> (u64, Vec<f32>) {
        let ids = self.tokens.ids(text);
        self.layers.apply(&self.embeddings, &ids, buffers);
        let mut vector = sum_states(buffers.states());
        let length = dot(&vector, &vector).sqrt().max(f32::MIN_POSITIVE);
        vector.iter_mut().for_each(|value| *value /= length);
        (ids.len() as u64, vector)
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
        ENCODER.as_ref().map_or_else(
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
