//! Chat models on an Ollama server, through its own API: JSON lines from `/api/chat`.
//!
//! Ollama also implements OpenAI's API, but the context size cannot be set there, and a prompt longer than the server's
//! default is silently truncated. Here the size is set to fit the request, up to the model's maximum. A request beyond
//! that is an error.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use memoir_core::{Image, Usage, Usd, count_tokens};
use memoir_models::{ChatModel, ChatRequest, ChatStream, ModelError, ModelInfo, ModelLimits, ModelName};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::{
    CallOptions, Endpoint,
    connection::Connection,
    dialect::{Dialect as _, Ollama, RequestOptions, bearer},
    reply::read_reply,
};

/// Maximum size of the description of a model.
const MAX_DESCRIPTION_BYTES: usize = 16 << 20;

/// Tokens reserved for the answer.
const REPLY_TOKENS: u64 = 4096;

/// A request that leaves fewer tokens than this for the answer is rejected.
const MIN_REPLY_TOKENS: u64 = 256;

/// Minimum context size. Larger sizes are powers of two, because every new size reloads the model.
const MIN_CONTEXT: u64 = 8192;

/// A model on an Ollama server.
pub struct OllamaModel {
    name: String,
    server: Server,
    options: CallOptions,
    /// The catalog entry, which overrides the server's report.
    info: Option<ModelInfo>,
    /// The capabilities that the server reported, queried once.
    capabilities: OnceCell<Capabilities>,
    /// The context size of the last call. It only grows.
    context_size: AtomicU64,
}

/// The capabilities of a model. `None` means that the server does not report one.
#[derive(Debug, Clone, Copy)]
struct Capabilities {
    context: Option<u64>,
    tools: Option<bool>,
    images: Option<bool>,
    thinking: Option<bool>,
}

struct Server {
    model: String,
    connection: Connection,
    is_free: bool,
}

impl OllamaModel {
    /// Creates a client for the model at `endpoint`. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails if no HTTP client can be created.
    pub fn new(
        name: &ModelName,
        endpoint: &Endpoint,
        info: Option<ModelInfo>,
        options: CallOptions,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            name: name.to_string(),
            server: Server {
                model: name.model.clone(),
                connection: Connection::new(endpoint)?,
                // A server that requires a key may charge for calls.
                is_free: endpoint.is_loopback() || endpoint.secret.expose().is_empty(),
            },
            options,
            info,
            capabilities: OnceCell::new(),
            context_size: AtomicU64::new(MIN_CONTEXT),
        })
    }

    async fn capabilities(&self) -> Result<Capabilities, ModelError> {
        let query = || self.server.capabilities(self.options.idle_timeout);
        let reported = *self.capabilities.get_or_try_init(query).await?;
        let info = self.info.as_ref();
        Ok(Capabilities {
            context: info.and_then(|info| info.context).or(reported.context),
            tools: info.and_then(|info| info.tools).or(reported.tools),
            images: info.and_then(|info| info.images).or(reported.images),
            thinking: reported.thinking,
        })
    }

    /// Returns the context size for `request`, or an error if the model's maximum is too small.
    fn choose_context_size(&self, request: &ChatRequest, max: Option<u64>) -> Result<u64, ModelError> {
        let needed = estimate_tokens(request);
        if let Some(max) = max
            && needed + MIN_REPLY_TOKENS > max
        {
            let message = format!("about {needed} tokens, but {} accepts at most {max}", self.server.model);
            return Err(ModelError::ContextTooLong { message, limit: Some(max) });
        }
        let current = self.context_size.load(Ordering::Relaxed);
        let preferred = (needed + REPLY_TOKENS).next_power_of_two().max(current);
        let size = max.map_or(preferred, |max| preferred.min(max));
        self.context_size.fetch_max(size, Ordering::Relaxed);
        Ok(size)
    }
}

#[async_trait]
impl ChatModel for OllamaModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stream(&self, mut request: ChatRequest) -> Result<ChatStream, ModelError> {
        let idle = self.options.idle_timeout;
        let capabilities = self.capabilities().await?;
        if capabilities.tools == Some(false) {
            request.tools.clear();
        }
        let context_size = self.choose_context_size(&request, capabilities.context)?;
        let dialect = Ollama { context_size, can_think: capabilities.thinking != Some(false) };
        let options = RequestOptions {
            model: &self.server.model,
            reasoning: self.options.reasoning,
            max_output_tokens: request.max_output_tokens,
        };
        let call = dialect.call(&request, &options);
        let (connection, headers) = (&self.server.connection, self.server.headers());
        let response = connection.post(&call.path, &headers, &call.body, idle).await?;
        Ok(read_reply(response, &dialect, connection.clone(), idle))
    }

    async fn limits(&self) -> ModelLimits {
        let catalog_limits = self.info.as_ref().map(ModelInfo::limits).unwrap_or_default();
        match self.capabilities().await {
            Ok(Capabilities { context, tools, images, .. }) => {
                ModelLimits { context, tools, images, ..catalog_limits }
            }
            Err(error) => {
                // Limits are optional, and the next call will fail with the same error.
                tracing::debug!(model = self.name, error = error.kind(), "could not read a model's limits");
                catalog_limits
            }
        }
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        self.server.is_free.then_some(Usd::ZERO)
    }

    fn is_free(&self) -> bool {
        self.server.is_free
    }
}

impl Server {
    fn headers(&self) -> Vec<(&'static str, String)> {
        bearer(&self.connection.secret)
    }

    async fn capabilities(&self, time_limit: Duration) -> Result<Capabilities, ModelError> {
        let body = json!({"model": self.model});
        let (headers, limit) = (self.headers(), MAX_DESCRIPTION_BYTES);
        let query = self.connection.post_for_json("api/show", &headers, &body, time_limit, limit);
        let description = match query.await {
            // Servers with only part of the API do not describe their models. If the model is missing, the call says so.
            Err(ModelError::NotFound { .. }) => Value::Null,
            description => description?,
        };
        let fields = description["model_info"].as_object().into_iter().flatten();
        let context =
            fields.filter(|(key, _)| key.ends_with(".context_length")).find_map(|(_, value)| value.as_u64());
        let capabilities = description["capabilities"].as_array();
        let has = |name: &str| capabilities.map(|all| all.iter().any(|capability| capability == name));
        Ok(Capabilities { context, tools: has("tools"), images: has("vision"), thinking: has("thinking") })
    }
}

/// Estimates the tokens in a request, with a margin because the model's tokenizer differs from ours.
fn estimate_tokens(request: &ChatRequest) -> u64 {
    let options = RequestOptions { model: "", reasoning: None, max_output_tokens: None };
    let mut text = request.clone();
    let images = text.take_images();
    let body = Ollama { context_size: 0, can_think: false }.call(&text, &options).body;
    let tokens = count_tokens(&body.to_string()) as u64 + images.iter().map(Image::tokens).sum::<u64>();
    tokens + tokens / 8
}
