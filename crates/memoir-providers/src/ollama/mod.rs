//! Chat models on an Ollama server, through its own API: JSON lines from `/api/chat`.
//!
//! Ollama also implements OpenAI's API, but the context size cannot be set there, and a prompt longer than the server's
//! default is silently truncated. Here the size is set to fit the request, up to the model's maximum. A request beyond
//! that is an error.

mod wire;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;
use futures::StreamExt as _;
use memoir_core::{Usage, Usd, count_tokens};
use memoir_models::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, ModelError, ModelInfo, ModelLimits, ModelName,
};
use serde_json::{Value, json};
use tokio::{sync::OnceCell, time::timeout};

use crate::{CallOptions, Endpoint, Reasoning, http, secret::Secret, status::error_from_status};

/// Tokens reserved for the answer.
const REPLY_TOKENS: u64 = 4096;

/// A request that leaves fewer tokens than this for the answer is rejected.
const MIN_REPLY_TOKENS: u64 = 256;

/// Minimum context size. Larger sizes are powers of two, because every new size reloads the model.
const MIN_CONTEXT: u64 = 8192;

/// A model on an Ollama server.
pub struct OllamaModel {
    name: String,
    server: Arc<Server>,
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
}

struct Server {
    model: String,
    url: String,
    display_url: String,
    secret: Secret,
    is_free: bool,
    client: reqwest::Client,
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
            server: Arc::new(Server {
                model: name.model.clone(),
                url: endpoint.url.clone(),
                display_url: endpoint.display_url.clone(),
                secret: endpoint.secret.clone(),
                // A server that requires a key may charge for calls.
                is_free: endpoint.is_loopback() || endpoint.secret.expose().is_empty(),
                client: http::client()?,
            }),
            options,
            info,
            capabilities: OnceCell::new(),
            context_size: AtomicU64::new(MIN_CONTEXT),
        })
    }

    async fn capabilities(&self) -> Result<Capabilities, ModelError> {
        let reported = *self.capabilities.get_or_try_init(|| self.server.capabilities()).await?;
        let info = self.info.as_ref();
        Ok(Capabilities {
            context: info.and_then(|info| info.context).or(reported.context),
            tools: info.and_then(|info| info.tools).or(reported.tools),
        })
    }

    /// Returns the context size for `request`, or an error if the model's maximum is too small.
    fn choose_context_size(&self, request: &ChatRequest, max: Option<u64>) -> Result<u64, ModelError> {
        let needed = estimate_tokens(request);
        if let Some(max) = max
            && needed + MIN_REPLY_TOKENS > max
        {
            let message = format!("about {needed} tokens, but {} accepts at most {max}", self.server.model);
            return Err(ModelError::ContextTooLong { message });
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
        let timed_out = |_| ModelError::IdleTimeout { after: idle };
        let capabilities = timeout(idle, self.capabilities()).await.map_err(timed_out)??;
        if capabilities.tools == Some(false) {
            request.tools.clear();
        }
        let context_size = self.choose_context_size(&request, capabilities.context)?;
        let mut body = json!({
            "model": self.server.model,
            "messages": wire::messages(&request),
            "stream": true,
            "options": {"num_ctx": context_size},
        });
        if !request.tools.is_empty() {
            body["tools"] = wire::tools(&request.tools);
        }
        if let Some(reasoning) = self.options.reasoning {
            body["think"] = json!(match reasoning {
                Reasoning::Low => "low",
                Reasoning::Medium => "medium",
                Reasoning::High => "high",
            });
        }
        let response = timeout(idle, self.server.post("api/chat", &body)).await.map_err(timed_out)??;
        let server = Arc::clone(&self.server);
        Ok(async_stream::stream! {
            let mut bytes = response.bytes_stream();
            let mut lines = wire::LineBuffer::default();
            let mut reply = wire::ReplyReader::default();
            loop {
                match timeout(idle, bytes.next()).await {
                    Err(_) => {
                        yield Err(ModelError::IdleTimeout { after: idle });
                        return;
                    }
                    Ok(None) => {
                        yield Err(ModelError::Truncated);
                        return;
                    }
                    Ok(Some(Err(error))) => {
                        yield Err(http::transport_error(&error, &server.display_url));
                        return;
                    }
                    Ok(Some(Ok(chunk))) => lines.push(&chunk),
                }
                while let Some(line) = lines.next_line() {
                    for event in reply.read(&line, &server.secret) {
                        let is_last = matches!(event, Err(_) | Ok(ChatEvent::End(_)));
                        yield event;
                        if is_last {
                            return;
                        }
                    }
                }
            }
        }
        .boxed())
    }

    async fn limits(&self) -> ModelLimits {
        let catalog_limits = self.info.as_ref().map(ModelInfo::limits).unwrap_or_default();
        let capabilities = match timeout(self.options.idle_timeout, self.capabilities()).await {
            Ok(capabilities) => capabilities,
            Err(_) => Err(ModelError::IdleTimeout { after: self.options.idle_timeout }),
        };
        match capabilities {
            Ok(Capabilities { context, tools }) => ModelLimits { context, tools, ..catalog_limits },
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
    async fn post(&self, path: &str, body: &Value) -> Result<reqwest::Response, ModelError> {
        let mut request = self.client.post(format!("{}{path}", self.url)).json(body);
        if !self.secret.expose().is_empty() {
            request = request.bearer_auth(self.secret.expose());
        }
        let response =
            request.send().await.map_err(|error| http::transport_error(&error, &self.display_url))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, wait) = (response.status().as_u16(), http::retry_after(response.headers()));
        let body = response.text().await.unwrap_or_else(|error| {
            // The status alone is enough to classify the failure.
            tracing::debug!(status, error = %error.without_url(), "could not read the body of a failed response");
            String::new()
        });
        Err(error_from_status(status, &self.secret.redact(&body), wait))
    }

    async fn capabilities(&self) -> Result<Capabilities, ModelError> {
        let response = self.post("api/show", &json!({"model": self.model})).await?;
        let description: Value = response.json().await.map_err(|error| match error.is_decode() {
            true => ModelError::InvalidResponse("the description of the model is not JSON".into()),
            false => http::transport_error(&error, &self.display_url),
        })?;
        let fields = description["model_info"].as_object().into_iter().flatten();
        let context =
            fields.filter(|(key, _)| key.ends_with(".context_length")).find_map(|(_, value)| value.as_u64());
        let capabilities = description["capabilities"].as_array();
        let tools = capabilities.map(|all| all.iter().any(|capability| capability == "tools"));
        Ok(Capabilities { context, tools })
    }
}

/// Estimates the tokens in a request, with a margin because the model's tokenizer differs from ours.
fn estimate_tokens(request: &ChatRequest) -> u64 {
    let body = wire::messages(request).to_string() + &wire::tools(&request.tools).to_string();
    let tokens = count_tokens(&body) as u64;
    tokens + tokens / 8
}
