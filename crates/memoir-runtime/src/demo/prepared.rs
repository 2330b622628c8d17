//! Precomputed embeddings of the sample history, so that the demo starts immediately.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use half::f16;
use memoir_core::{Usage, Usd};
use memoir_embed::LocalEmbedder;
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, ModelError};
use sha2::{Digest as _, Sha256};

/// One entry per text: the hash of the text, then its embedding as 16-bit floats. Written by `cargo xtask demo`.
const VECTORS: &[u8] = include_bytes!("../../demo/vectors.bin");

/// Length of the hash of a text in bytes.
const HASH_BYTES: usize = 8;

/// The built-in embedding model with a cache of precomputed embeddings.
pub struct PreparedEmbedder {
    prepared: HashMap<[u8; HASH_BYTES], Vec<f32>>,
    /// Texts that were not in the cache, with their embeddings.
    new: Mutex<Vec<(String, Vec<f32>)>>,
}

impl PreparedEmbedder {
    /// Returns an embedder with the embeddings of the sample history.
    pub fn sample() -> Self {
        let size = HASH_BYTES + 2 * memoir_embed::DIMENSIONS;
        let entry = |bytes: &[u8]| {
            let vector = bytes[HASH_BYTES..]
                .chunks_exact(2)
                .map(|pair| f16::from_le_bytes([pair[0], pair[1]]).to_f32());
            Some((bytes.get(..HASH_BYTES)?.try_into().ok()?, vector.collect()))
        };
        Self { prepared: VECTORS.chunks_exact(size).filter_map(entry).collect(), new: Mutex::default() }
    }

    /// Returns an embedder with an empty cache.
    pub fn empty() -> Self {
        Self { prepared: HashMap::new(), new: Mutex::default() }
    }

    /// Returns the embeddings that were not in the cache, in the format of `demo/vectors.bin`.
    pub fn new_bytes(&self) -> Vec<u8> {
        let new = self.new.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        for (text, vector) in new.iter() {
            bytes.extend_from_slice(&hash(text));
            bytes.extend(vector.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()));
        }
        bytes
    }
}

fn hash(text: &str) -> [u8; HASH_BYTES] {
    let mut hash = [0; HASH_BYTES];
    hash.copy_from_slice(&Sha256::digest(text)[..HASH_BYTES]);
    hash
}

#[async_trait]
impl Embedder for PreparedEmbedder {
    fn name(&self) -> &str {
        LocalEmbedder.name()
    }

    fn dimensions(&self) -> Option<usize> {
        LocalEmbedder.dimensions()
    }

    async fn embed(&self, texts: &[String], task: EmbedTask) -> Result<EmbeddedTexts, ModelError> {
        let missing: Vec<String> =
            texts.iter().filter(|text| !self.prepared.contains_key(&hash(text))).cloned().collect();
        let mut embedded = LocalEmbedder.embed(&missing, task).await?;
        if task == EmbedTask::Document {
            let mut new = self.new.lock().unwrap_or_else(PoisonError::into_inner);
            new.extend(missing.into_iter().zip(embedded.vectors.iter().cloned()));
        }
        let mut computed = std::mem::take(&mut embedded.vectors).into_iter();
        let vector = |text: &String| self.prepared.get(&hash(text)).cloned().or_else(|| computed.next());
        embedded.vectors = texts.iter().filter_map(vector).collect();
        Ok(embedded)
    }

    fn cost(&self, usage: &Usage) -> Option<Usd> {
        LocalEmbedder.cost(usage)
    }

    fn max_tokens(&self) -> usize {
        LocalEmbedder.max_tokens()
    }

    fn count_tokens(&self, text: &str) -> usize {
        LocalEmbedder.count_tokens(text)
    }

    fn is_local(&self) -> bool {
        true
    }

    fn unrelated_cosines(&self) -> Option<(f64, f64)> {
        LocalEmbedder.unrelated_cosines()
    }
}
