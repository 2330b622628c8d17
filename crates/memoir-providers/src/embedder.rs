//! Embedding models on a server.

use std::time::Duration;

use async_trait::async_trait;
use memoir_core::{Usage, Usd, count_tokens};
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, EmbeddingInfo, ModelError, ModelName, Provider};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::{Endpoint, connection::Connection, dialect};

/// Maximum number of texts in one call.
const BATCH: usize = 100;

/// A call that takes longer than this is abandoned.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum size of a response. A hundred vectors of 4096 numbers take up a tenth of it.
const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// An embedding model of OpenAI, Google, or any server that implements OpenAI's API.
pub struct RemoteEmbedder {
    name: String,
    provider: Provider,
    info: Option<EmbeddingInfo>,
    /// The model's name at the provider.
    model: String,
    connection: Connection,
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
            model: name.model.clone(),
            connection: Connection::new(endpoint)?,
        })
    }

    async fn embed_batch(&self, texts: &[String], task: EmbedTask) -> Result<EmbeddedTexts, ModelError> {
        let (path, body) = match self.provider {
            Provider::Google => self.google_request(texts, task),
            _ => ("embeddings".to_owned(), json!({"model": self.model, "input": texts})),
        };
        let headers = dialect::of(self.provider, None).key_headers(&self.connection.secret);
        let response =
            self.connection.post_for_json(&path, &headers, &body, CALL_TIMEOUT, MAX_RESPONSE_BYTES).await?;
        let input_tokens = match response["usage"]["prompt_tokens"].as_u64() {
            Some(tokens) if tokens > 0 => tokens,
            // Google does not report usage. An estimate is closer to the bill than zero.
            _ => texts.iter().map(|text| count_tokens(text) as u64).sum(),
        };
        let mut embeddings: Vec<&Value> = match self.provider {
            Provider::Google => response["embeddings"].as_array().into_iter().flatten().collect(),
            _ => response["data"].as_array().into_iter().flatten().collect(),
        };
        embeddings.sort_by_key(|embedding| embedding["index"].as_u64());
        let field = if self.provider == Provider::Google { "values" } else { "embedding" };
        let vectors: Vec<Vec<f32>> = embeddings
            .into_iter()
            .map(|embedding| Vec::<f32>::deserialize(&embedding[field]).map(normalize).unwrap_or_default())
            .collect();
        let length = vectors.first().map_or(0, Vec::len);
        if vectors.len() != texts.len() || length == 0 || vectors.iter().any(|vector| vector.len() != length)
        {
            let reason =
                format!("{} vectors for {} texts, or vectors of unequal length", vectors.len(), texts.len());
            return Err(ModelError::InvalidResponse(reason));
        }
        Ok(EmbeddedTexts { vectors, usage: Usage { input_tokens, ..Usage::default() } })
    }

    fn google_request(&self, texts: &[String], task: EmbedTask) -> (String, Value) {
        let task = match task {
            EmbedTask::Query => "RETRIEVAL_QUERY",
            EmbedTask::Document => "RETRIEVAL_DOCUMENT",
        };
        let model = format!("models/{}", self.model);
        let request =
            |text: &String| json!({"model": model, "content": {"parts": [{"text": text}]}, "taskType": task});
        let requests: Vec<Value> = texts.iter().map(request).collect();
        (format!("{model}:batchEmbedContents"), json!({"requests": requests}))
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
