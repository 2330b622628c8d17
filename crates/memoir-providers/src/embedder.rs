//! Embedding models on a server.

use std::time::Duration;

use async_trait::async_trait;
use genai::embed::EmbedOptions;
use memoir_core::{Usage, Usd, count_tokens};
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, EmbeddingInfo, ModelError, ModelName, Provider};

use crate::{
    Endpoint,
    remote::{ErrorClassifier, convert_usage, create_genai_client, create_target},
};

/// Maximum number of texts in one call.
const BATCH: usize = 100;

/// A call that takes longer than this is abandoned.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// An embedding model of OpenAI, Google, or any server that implements OpenAI's API.
pub struct RemoteEmbedder {
    name: String,
    provider: Provider,
    info: Option<EmbeddingInfo>,
    client: genai::Client,
    target: genai::ServiceTarget,
    errors: ErrorClassifier,
}

impl RemoteEmbedder {
    /// Creates a client for the model at `endpoint`. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails if no HTTP client can be created.
    pub fn new(
        name: &ModelName,
        endpoint: &Endpoint,
        info: Option<EmbeddingInfo>,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            name: name.to_string(),
            provider: name.provider,
            info,
            client: create_genai_client()?,
            target: create_target(name, endpoint),
            errors: ErrorClassifier::new(endpoint, CALL_TIMEOUT),
        })
    }

    async fn embed_batch(&self, texts: &[String], task: EmbedTask) -> Result<EmbeddedTexts, ModelError> {
        let mut options = EmbedOptions::new().with_capture_usage(true);
        if self.provider == Provider::Google {
            options = options.with_embedding_type(match task {
                EmbedTask::Query => "RETRIEVAL_QUERY",
                EmbedTask::Document => "RETRIEVAL_DOCUMENT",
            });
        }
        let call = self.client.embed_batch(self.target.clone(), texts.to_vec(), Some(&options));
        let response = tokio::time::timeout(CALL_TIMEOUT, call)
            .await
            .map_err(|_| ModelError::IdleTimeout { after: CALL_TIMEOUT })?
            .map_err(|error| self.errors.classify(&error))?;
        let mut usage = convert_usage(&response.usage);
        if usage.input_tokens == 0 {
            // Google does not report usage. An estimate is closer to the bill than zero.
            usage.input_tokens = texts.iter().map(|text| count_tokens(text) as u64).sum();
        }
        let mut embeddings = response.embeddings;
        embeddings.sort_by_key(genai::embed::Embedding::index);
        let vectors: Vec<Vec<f32>> =
            embeddings.into_iter().map(|embedding| normalize(embedding.into_vector())).collect();
        let length = vectors.first().map_or(0, Vec::len);
        if vectors.len() != texts.len() || length == 0 || vectors.iter().any(|vector| vector.len() != length)
        {
            let reason =
                format!("{} vectors for {} texts, or vectors of unequal length", vectors.len(), texts.len());
            return Err(ModelError::InvalidResponse(reason));
        }
        Ok(EmbeddedTexts { vectors, usage })
    }
}

/// Scales a vector to unit length, which not every server does.
fn normalize(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        vector.iter_mut().for_each(|value| *value /= length);
    }
    vector
}

#[async_trait]
impl Embedder for RemoteEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> Option<usize> {
        self.info.as_ref().and_then(|info| info.dimensions)
    }

    async fn embed(&self, texts: &[String], task: EmbedTask) -> Result<EmbeddedTexts, ModelError> {
        let mut embedded = EmbeddedTexts::default();
        for batch in texts.chunks(BATCH) {
            let part = self.embed_batch(batch, task).await?;
            embedded.vectors.extend(part.vectors);
            embedded.usage += part.usage;
        }
        Ok(embedded)
    }

    fn cost(&self, usage: &Usage) -> Option<Usd> {
        if self.provider.is_local() {
            return Some(Usd::ZERO);
        }
        self.info.as_ref().and_then(|info| info.cost(usage))
    }

    fn is_free(&self) -> bool {
        self.provider.is_local()
    }
}
