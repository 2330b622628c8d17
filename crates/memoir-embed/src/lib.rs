//! The built-in models: an embedding model and a reader. The first is all-MiniLM-L6-v2 fine-tuned for conversations,
//! with 384 dimensions, 256 tokens and 8-bit weights. The second (`reader.rs`) finds the sentence that answers a
//! question. `training/` contains their data, their scripts and their model cards.
//!
//! Nothing is downloaded, and nothing is loaded at startup: the weights are part of the executable and are loaded with
//! the first text. Weights are 8-bit with one scale per row; activations are quantized to 8 bits token by token. The
//! matrix products therefore use integers (`kernel.rs`), which is several times as fast as 32-bit floating point. The
//! embeddings have a cosine of at least 0.99 with those of the 32-bit encoder.

mod directory;
mod encoder;
mod error;
mod kernel;
mod linear;
mod reader;
mod tokens;
mod vocabulary;
mod weights;

use std::sync::LazyLock;

use async_trait::async_trait;
use memoir_core::{Usage, Usd};
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, ModelError};

pub use directory::{DirectoryEmbedder, DirectoryError};
use encoder::{EncoderBuffers, Layers, Shape, TokenEmbeddings, dot, sum_states};
use error::AssetError;
pub use reader::{LocalReader, read_blocking};
use tokens::Tokens;
use weights::WeightFile;

/// Full name of the model. Another encoder needs another version, so that memories are embedded again.
pub const NAME: &str = "memoir/conversation-minilm-v1";

/// Number of dimensions of an embedding.
pub const DIMENSIONS: usize = 384;

/// Mean and standard deviation of the cosine of a question and an unrelated text, measured with `memoir eval recall`.
const UNRELATED: (f64, f64) = (0.03, 0.11);

struct Encoder {
    tokens: Tokens,
    embeddings: TokenEmbeddings,
    layers: Layers,
    pooling: Pooling,
}

/// Which states make up an embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The first token.
    First,
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
    Encoder::get()?.embed_all(texts)
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
            embeddings: TokenEmbeddings::load(&weights, Shape::BUILT_IN)?,
            layers: Layers::load(&weights, Shape::BUILT_IN)?,
            pooling: Pooling::Mean,
        })
    }

    /// Returns the encoder, which is loaded first if this is the first call.
    fn get() -> Result<&'static Self, ModelError> {
        ENCODER.as_ref().map_err(AssetError::to_model_error)
    }

    /// Embeds texts on all cores. Blocks until done.
    fn embed_all(&self, texts: &[String]) -> Result<EmbeddedTexts, ModelError> {
        let mut all = EmbeddedTexts::default();
        for (tokens, vector) in in_parallel(texts, |text, buffers| self.embed(text, buffers))? {
            all.usage.input_tokens += tokens;
            all.vectors.push(vector);
        }
        Ok(all)
    }

    /// Returns the number of tokens of a text, and its embedding, which has unit length.
    fn embed(&self, text: &str, buffers: &mut EncoderBuffers) -> (u64, Vec<f32>) {
        let ids = self.tokens.ids(text);
        self.layers.apply(&self.embeddings, &ids, buffers);
        let (states, dimensions) = (buffers.states(), self.layers.dimensions());
        let mut vector = match self.pooling {
            Pooling::Mean => sum_states(states, dimensions),
            Pooling::First => states[..dimensions].to_vec(),
        };
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
        embed_in_batches(texts, embed_blocking).await
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

    fn unrelated_cosines(&self) -> Option<(f64, f64)> {
        Some(UNRELATED)
    }
}

/// Embeds texts in a blocking task. It cannot be cancelled, so small batches let a dropped future stop early.
async fn embed_in_batches(
    texts: &[String],
    embed: impl Fn(&[String]) -> Result<EmbeddedTexts, ModelError> + Clone + Send + 'static,
) -> Result<EmbeddedTexts, ModelError> {
    let mut all = EmbeddedTexts::default();
    for batch in texts.chunks(BATCH_SIZE) {
        let (batch, embed) = (batch.to_vec(), embed.clone());
        let embedded = tokio::task::spawn_blocking(move || embed(&batch))
            .await
            .map_err(|error| ModelError::InvalidResponse(error.to_string()))??;
        all.vectors.extend(embedded.vectors);
        all.usage += embedded.usage;
    }
    Ok(all)
}
