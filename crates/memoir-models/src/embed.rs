//! Embedding models: texts in, vectors out.

use std::time::Duration;

use async_trait::async_trait;
use genai::embed::EmbedOptions;
use memoir_core::{Usage, Usd, count_tokens};

use crate::{
    EmbeddingInfo, Endpoint, ModelError, ModelName, Provider,
    remote::{Failures, genai_client, target, usage},
};

/// How many texts go out in one call.
const BATCH: usize = 100;

/// A call that takes longer than this is not coming back.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

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
pub struct Embeddings {
    /// One vector per text.
    pub vectors: Vec<Vec<f32>>,
    /// What it used.
    pub usage: Usage,
}

/// A model that turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Its full name, as in `openai/text-embedding-3-small`.
    fn name(&self) -> &str;

    /// The length of its vectors, where that is known before the first.
    fn dimensions(&self) -> Option<usize>;

    /// Embeds all of `texts`, or none.
    async fn embed(&self, texts: &[String], task: EmbedTask) -> Result<Embeddings, ModelError>;

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

/// An embedding model on a server: OpenAI's, Google's, or any that speaks OpenAI's protocol.
pub struct RemoteEmbedder {
    name: String,
    provider: Provider,
    info: Option<EmbeddingInfo>,
    client: genai::Client,
    target: genai::ServiceTarget,
    failures: Failures,
}

impl RemoteEmbedder {
    /// A model reached at `endpoint`.
    pub fn new(
        name: &ModelName,
        endpoint: &Endpoint,
        info: Option<EmbeddingInfo>,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            name: name.to_string(),
            provider: name.provider,
            info,
            client: genai_client()?,
            target: target(name, endpoint),
            failures: Failures::new(endpoint, CALL_TIMEOUT),
        })
    }

    async fn embed_batch(&self, texts: &[String], task: EmbedTask) -> Result<Embeddings, ModelError> {
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
            .map_err(|error| self.failures.classify(&error))?;
        let mut usage = usage(&response.usage);
        if usage.input_tokens == 0 {
            // Google does not say; an estimate is closer to the bill than nothing.
            usage.input_tokens = texts.iter().map(|text| count_tokens(text) as u64).sum();
        }
        let mut embeddings = response.embeddings;
        embeddings.sort_by_key(genai::embed::Embedding::index);
        let vectors: Vec<Vec<f32>> =
            embeddings.into_iter().map(|embedding| unit(embedding.into_vector())).collect();
        let length = vectors.first().map_or(0, Vec::len);
        if vectors.len() != texts.len() || length == 0 || vectors.iter().any(|vector| vector.len() != length)
        {
            let said = format!("{} vectors for {} texts, or of unequal length", vectors.len(), texts.len());
            return Err(ModelError::Garbled(said));
        }
        Ok(Embeddings { vectors, usage })
    }
}

/// A vector brought to length one: not every server does that.
fn unit(mut vector: Vec<f32>) -> Vec<f32> {
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

    async fn embed(&self, texts: &[String], task: EmbedTask) -> Result<Embeddings, ModelError> {
        let mut all = Embeddings::default();
        for batch in texts.chunks(BATCH) {
            let embedded = self.embed_batch(batch, task).await?;
            all.vectors.extend(embedded.vectors);
            all.usage += embedded.usage;
        }
        Ok(all)
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
