//! Embedding models in a directory: the weights and the tokenizer of a model with BERT's architecture, as published for
//! Sentence Transformers. They run through the same encoder as the built-in model, with 8-bit weights.

mod config;
mod error;
mod floats;
mod unrelated;

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use async_trait::async_trait;
use memoir_core::{Usage, Usd};
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, ModelError};
use sha2::{Digest as _, Sha256};

pub use self::error::DirectoryError;
use self::{config::Description, floats::FloatWeights};
use crate::{
    Encoder, embed_in_batches,
    encoder::{Layers, TokenEmbeddings},
};

/// Number and size of the parts of the weights that identify them. Reading all of them would delay the start.
const SAMPLES: u64 = 64;
const SAMPLE_BYTES: usize = 4096;

/// An embedding model in a directory. It is loaded with the first text.
pub struct DirectoryEmbedder {
    name: String,
    model: Arc<LazyModel>,
}

struct LazyModel {
    directory: PathBuf,
    description: Description,
    loaded: OnceLock<Result<LoadedModel, DirectoryError>>,
}

struct LoadedModel {
    encoder: Encoder,
    /// See [`Embedder::unrelated_cosines`].
    unrelated: (f64, f64),
}

impl DirectoryEmbedder {
    /// Opens the model in a directory. Its name contains a fingerprint, so that memories are embedded again if it changes.
    ///
    /// # Errors
    ///
    /// Fails if a file is missing or the model has another architecture.
    pub fn open(directory: &Path) -> Result<Self, DirectoryError> {
        let description = Description::read(directory)?;
        let unreadable =
            |source| DirectoryError::Unreadable { path: directory.join(config::WEIGHTS), source };
        let fingerprint = fingerprint(directory).map_err(unreadable)?;
        let base = directory.file_name().map_or_else(|| "model".into(), |name| name.to_string_lossy());
        let model = LazyModel { directory: directory.to_owned(), description, loaded: OnceLock::new() };
        Ok(Self { name: format!("directory/{base}-{fingerprint}"), model: Arc::new(model) })
    }

    /// Loads the model now.
    ///
    /// # Errors
    ///
    /// Fails if its weights or its vocabulary do not fit its description.
    pub fn load(&self) -> Result<(), ModelError> {
        self.model.get().map(drop)
    }
}

impl LazyModel {
    fn get(&self) -> Result<&LoadedModel, ModelError> {
        let loaded = self.loaded.get_or_init(|| self.load());
        loaded.as_ref().map_err(|error| {
            let directory = self.directory.display();
            ModelError::Unavailable(format!("the embedding model in {directory} cannot be loaded: {error}"))
        })
    }

    fn load(&self) -> Result<LoadedModel, DirectoryError> {
        let path = self.directory.join(config::WEIGHTS);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(source) => return Err(DirectoryError::Unreadable { path, source }),
        };
        let shape = self.description.shape;
        let weights = FloatWeights::new(&bytes, shape.dimensions)?;
        let encoder = Encoder {
            tokens: self.description.read_tokens(&self.directory)?,
            embeddings: TokenEmbeddings::load(&weights, shape)?,
            layers: Layers::load(&weights, shape)?,
            pooling: self.description.pooling,
        };
        if !encoder.embeddings.fits(encoder.tokens.max_id(), self.description.max_tokens) {
            let reason = "its vocabulary or its maximum length do not fit its weights";
            return Err(DirectoryError::Defect(reason.to_owned()));
        }
        let prompts = &self.description.prompts;
        let unrelated = unrelated::measure(&encoder, prompts)
            .map_err(|error| DirectoryError::Defect(error.to_string()))?;
        if !(unrelated.0.is_finite() && unrelated.1.is_finite()) {
            return Err(DirectoryError::Defect("its weights contain numbers that are not finite".to_owned()));
        }
        Ok(LoadedModel { encoder, unrelated })
    }
}

#[async_trait]
impl Embedder for DirectoryEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.model.description.shape.dimensions)
    }

    async fn embed(&self, texts: &[String], task: EmbedTask) -> Result<EmbeddedTexts, ModelError> {
        let [query, document] = &self.model.description.prompts;
        let prompt = match task {
            EmbedTask::Query => query,
            EmbedTask::Document => document,
        };
        let texts: Vec<String> = texts.iter().map(|text| format!("{prompt}{text}")).collect();
        let model = Arc::clone(&self.model);
        embed_in_batches(&texts, move |texts| model.get()?.encoder.embed_all(texts)).await
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        Some(Usd::ZERO)
    }

    fn max_tokens(&self) -> usize {
        let Description { max_tokens, prompts: [query, document], .. } = &self.model.description;
        // A token has two characters or more on average.
        max_tokens.saturating_sub(query.len().max(document.len()).div_ceil(2)).max(1)
    }

    fn count_tokens(&self, text: &str) -> usize {
        // Without a model, embedding reports the error.
        self.model.get().map_or(0, |model| model.encoder.tokens.count(text))
    }

    fn is_local(&self) -> bool {
        true
    }

    fn unrelated_cosines(&self) -> Option<(f64, f64)> {
        self.model.get().ok().map(|model| model.unrelated)
    }
}

/// Returns a few digits that depend on all descriptions, and on parts of the weights all over the file.
fn fingerprint(directory: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    for name in config::DESCRIPTIONS {
        match fs::read(directory.join(name)) {
            Ok(bytes) => hash.update(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let mut weights = File::open(directory.join(config::WEIGHTS))?;
    let size = weights.metadata()?.len();
    hash.update(size.to_le_bytes());
    for sample in 0..SAMPLES {
        weights.seek(SeekFrom::Start(size / SAMPLES * sample))?;
        let mut bytes = Vec::with_capacity(SAMPLE_BYTES);
        weights.by_ref().take(SAMPLE_BYTES as u64).read_to_end(&mut bytes)?;
        hash.update(bytes);
    }
    Ok(hash.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect())
}
