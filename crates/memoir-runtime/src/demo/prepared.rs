//! The vectors of the sample, made beforehand: a demo opens at once.

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

/// A sum over a text each, and its vector in 16 bits. `cargo xtask demo` writes them.
const VECTORS: &[u8] = include_bytes!("../../demo/vectors.bin");

/// What a text is known by, in bytes.
const SUM: usize = 8;

/// The compiled-in model, which has read some texts already.
pub struct PreparedEmbedder {
    known: HashMap<[u8; SUM], Vec<f32>>,
    /// What had to be read now.
    read: Mutex<Vec<(String, Vec<f32>)>>,
}

impl PreparedEmbedder {
    /// With the sample read.
    pub fn sample() -> Self {
        let size = SUM + 2 * memoir_embed::DIMENSIONS;
        let entry = |bytes: &[u8]| {
            let vector =
                bytes[SUM..].chunks_exact(2).map(|pair| f16::from_le_bytes([pair[0], pair[1]]).to_f32());
            Some((bytes.get(..SUM)?.try_into().ok()?, vector.collect()))
        };
        Self { known: VECTORS.chunks_exact(size).filter_map(entry).collect(), read: Mutex::default() }
    }

    /// With nothing read.
    pub fn nothing() -> Self {
        Self { known: HashMap::new(), read: Mutex::default() }
    }

    /// What was read, as it is kept.
    pub fn bytes(&self) -> Vec<u8> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        for (text, vector) in read.iter() {
            bytes.extend_from_slice(&sum(text));
            bytes.extend(vector.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()));
        }
        bytes
    }
}

fn sum(text: &str) -> [u8; SUM] {
    let mut sum = [0; SUM];
    sum.copy_from_slice(&Sha256::digest(text)[..SUM]);
    sum
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
        let new: Vec<String> =
            texts.iter().filter(|text| !self.known.contains_key(&sum(text))).cloned().collect();
        let mut embedded = LocalEmbedder.embed(&new, task).await?;
        if task == EmbedTask::Document {
            let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            read.extend(new.into_iter().zip(embedded.vectors.iter().cloned()));
        }
        let mut made = std::mem::take(&mut embedded.vectors).into_iter();
        let vector = |text: &String| self.known.get(&sum(text)).cloned().or_else(|| made.next());
        embedded.vectors = texts.iter().filter_map(vector).collect();
        Ok(embedded)
    }

    fn cost(&self, usage: &Usage) -> Option<Usd> {
        LocalEmbedder.cost(usage)
    }

    fn reads(&self) -> usize {
        LocalEmbedder.reads()
    }

    fn count(&self, text: &str) -> usize {
        LocalEmbedder.count(text)
    }

    fn is_local(&self) -> bool {
        true
    }
}
