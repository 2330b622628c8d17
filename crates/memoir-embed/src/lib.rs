//! The embedding model that is compiled in: all-MiniLM-L6-v2, 384 dimensions, 256 tokens, 8-bit weights.
//!
//! Nothing is downloaded and nothing is loaded at start-up: the weights lie in the program's own file and are
//! read from there when the first text is embedded. Weights are 8-bit with one scale per row; activations are
//! brought to 8 bits token by token, so that the matrix products are whole-number ones (`kernel.rs`), several
//! times as fast as in 32-bit arithmetic and within a cosine of 0.99 of the original's vectors.

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

/// The model's full name.
pub const NAME: &str = "memoir/all-minilm-l6-v2";

/// The length of its vectors.
pub const DIMENSIONS: usize = 384;

struct LoadedModel {
    tokens: Tokens,
    encoder: Encoder,
}

static MODEL: LazyLock<Result<LoadedModel, AssetError>> =
    LazyLock::new(|| Ok(LoadedModel { tokens: Tokens::load()?, encoder: Encoder::load()? }));

/// So many texts are embedded before anyone looks whether they are still wanted.
const AT_A_TIME: usize = 8;

/// Embeds texts, on as many threads as the machine has. Blocks until it is done.
///
/// # Errors
///
/// Fails if the compiled-in model is damaged or a thread panics; the first embedded text shows whether it is.
pub fn embed_blocking(texts: &[String]) -> Result<EmbeddedTexts, ModelError> {
    let model = MODEL.as_ref().map_err(|error| ModelError::Garbled(error.to_string()))?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(texts.len()).max(1);
    let share = texts.len().div_ceil(threads).max(1);
    let shares: Vec<Result<EmbeddedTexts, ModelError>> = std::thread::scope(|scope| {
        // One share is done here: a single text needs no thread.
        let mut shares = texts.chunks(share);
        let first = shares.next();
        let others: Vec<_> = shares.map(|texts| scope.spawn(|| model.embed(texts))).collect();
        let first = first.map(|texts| Ok(model.embed(texts)));
        let crashed = |_| ModelError::Garbled("a thread that was embedding crashed".into());
        let others = others.into_iter().map(|thread| thread.join().map_err(crashed));
        first.into_iter().chain(others).collect()
    });
    let mut all = EmbeddedTexts::default();
    for share in shares {
        let share = share?;
        all.vectors.extend(share.vectors);
        all.usage += share.usage;
    }
    Ok(all)
}

impl LoadedModel {
    fn embed(&self, texts: &[String]) -> EmbeddedTexts {
        let mut all = EmbeddedTexts::default();
        let mut workspace = encoder::EncoderBuffers::default();
        for text in texts {
            let ids = self.tokens.ids(text);
            all.usage.input_tokens += ids.len() as u64;
            all.vectors.push(self.encoder.encode(&ids, &mut workspace));
        }
        all
    }
}

/// The compiled-in model as an [`Embedder`].
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
        // A little at a time: who has no more use for it is not kept from the processor by the rest.
        for some in texts.chunks(AT_A_TIME) {
            let some = some.to_vec();
            let embedded = tokio::task::spawn_blocking(move || embed_blocking(&some))
                .await
                .map_err(|error| ModelError::Garbled(error.to_string()))??;
            all.vectors.extend(embedded.vectors);
            all.usage += embedded.usage;
        }
        Ok(all)
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        Some(Usd::ZERO)
    }

    fn reads(&self) -> usize {
        tokens::LONGEST
    }

    fn count(&self, text: &str) -> usize {
        MODEL.as_ref().map_or_else(
            |error| {
                // Embedding fails for the same reason, and that error reaches the user.
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
