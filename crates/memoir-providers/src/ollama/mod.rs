//! Ollama's own dialect: JSON lines over `/api/chat`.
//!
//! Ollama also speaks OpenAI's, but there the size of the context cannot be set, and a prompt beyond the
//! server's default is cut without a word. Here it is set to what the request needs, up to what the model
//! has, and a request beyond that is an error.

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

/// Room for the answer.
const REPLY_TOKENS: u64 = 4096;

/// A context with less room than this for the answer is too small.
const SHORTEST_REPLY: u64 = 256;

/// A context is never set smaller than this. Sizes then double, since every new size reloads the model.
const SMALLEST_CONTEXT: u64 = 8192;

/// A model on an Ollama server.
pub struct OllamaModel {
    name: String,
    server: Arc<Server>,
    options: CallOptions,
    /// What the catalogue says of it, which wins over what the server says.
    info: Option<ModelInfo>,
    /// What the model has, asked once.
    abilities: OnceCell<Abilities>,
    /// The size in use; it only grows.
    in_use: AtomicU64,
}

/// What a model can do, where the server tells.
#[derive(Debug, Clone, Copy)]
struct Abilities {
    context: Option<u64>,
    tools: Option<bool>,
}

struct Server {
    model: String,
    url: String,
    shown_url: String,
    secret: Secret,
    free: bool,
    client: reqwest::Client,
}

impl OllamaModel {
    /// Creates a client for the model at `endpoint`. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails if no HTTP client can be made.
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
                shown_url: endpoint.shown_url.clone(),
                secret: endpoint.secret.clone(),
                // A server that wants a key may want money too.
                free: endpoint.is_loopback() || endpoint.secret.expose().is_empty(),
                client: http::client()?,
            }),
            options,
            info,
            abilities: OnceCell::new(),
            in_use: AtomicU64::new(SMALLEST_CONTEXT),
        })
    }

    async fn abilities(&self) -> Result<Abilities, ModelError> {
        let reported = *self.abilities.get_or_try_init(|| self.server.abilities()).await?;
        let info = self.info.as_ref();
        Ok(Abilities {
            context: info.and_then(|info| info.context).or(reported.context),
            tools: info.and_then(|info| info.tools).or(reported.tools),
        })
    }

    /// The context size to ask for, or why the request does not fit.
    fn context_for(&self, request: &ChatRequest, available: Option<u64>) -> Result<u64, ModelError> {
        let needed = estimate(request);
        if let Some(available) = available
            && needed + SHORTEST_REPLY > available
        {
            let message = format!("about {needed} tokens, and {} has {available}", self.server.model);
            return Err(ModelError::ContextTooLong { message });
        }
        let wanted = (needed + REPLY_TOKENS).next_power_of_two().max(self.in_use.load(Ordering::Relaxed));
        let size = available.map_or(wanted, |available| wanted.min(available));
        self.in_use.fetch_max(size, Ordering::Relaxed);
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
        let silent = |_| ModelError::IdleTimeout { after: idle };
        let abilities = timeout(idle, self.abilities()).await.map_err(silent)??;
        if abilities.tools == Some(false) {
            request.tools.clear();
        }
        let context = self.context_for(&request, abilities.context)?;
        let mut body = json!({
            "model": self.server.model,
            "messages": wire::messages(&request),
            "stream": true,
            "options": {"num_ctx": context},
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
        let response = timeout(idle, self.server.post("api/chat", &body)).await.map_err(silent)??;
        let server = Arc::clone(&self.server);
        Ok(async_stream::stream! {
            let mut bytes = response.bytes_stream();
            let mut lines = wire::Lines::default();
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
                        yield Err(http::transport_error(&error, &server.shown_url));
                        return;
                    }
                    Ok(Some(Ok(chunk))) => lines.push(&chunk),
                }
                while let Some(line) = lines.next_line() {
                    for event in reply.read(&line, &server.secret) {
                        let over = matches!(event, Err(_) | Ok(ChatEvent::End(_)));
                        yield event;
                        if over {
                            return;
                        }
                    }
                }
            }
        }
        .boxed())
    }

    async fn limits(&self) -> ModelLimits {
        let known = self.info.as_ref().map(ModelInfo::limits).unwrap_or_default();
        let abilities = match timeout(self.options.idle_timeout, self.abilities()).await {
            Ok(abilities) => abilities,
            Err(_) => Err(ModelError::IdleTimeout { after: self.options.idle_timeout }),
        };
        match abilities {
            Ok(abilities) => ModelLimits { context: abilities.context, tools: abilities.tools, ..known },
            Err(error) => {
                // Limits are optional, and the call that follows fails with the same error.
                tracing::debug!(model = self.name, error = error.kind(), "cannot read the limits of a model");
                known
            }
        }
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        self.server.free.then_some(Usd::ZERO)
    }

    fn is_free(&self) -> bool {
        self.server.free
    }
}

impl Server {
    async fn post(&self, path: &str, body: &Value) -> Result<reqwest::Response, ModelError> {
        let mut request = self.client.post(format!("{}{path}", self.url)).json(body);
        if !self.secret.expose().is_empty() {
            request = request.bearer_auth(self.secret.expose());
        }
        let response =
            request.send().await.map_err(|error| http::transport_error(&error, &self.shown_url))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, wait) = (response.status().as_u16(), http::retry_after(response.headers()));
        let body = response.text().await.unwrap_or_else(|error| {
            // The status alone still classifies the failure.
            tracing::debug!(status, error = %error.without_url(), "cannot read the body of a failed response");
            String::new()
        });
        Err(error_from_status(status, &self.secret.redact(&body), wait))
    }

    /// What the model can do, as far as the server tells.
    async fn abilities(&self) -> Result<Abilities, ModelError> {
        let response = self.post("api/show", &json!({"model": self.model})).await?;
        let shown: Value = response.json().await.map_err(|error| match error.is_decode() {
            true => ModelError::Garbled("what it says of the model is not JSON".into()),
            false => http::transport_error(&error, &self.shown_url),
        })?;
        let lengths = shown["model_info"].as_object().into_iter().flatten();
        let context =
            lengths.filter(|(key, _)| key.ends_with(".context_length")).find_map(|(_, value)| value.as_u64());
        let tools = shown["capabilities"].as_array().map(|all| all.iter().any(|ability| ability == "tools"));
        Ok(Abilities { context, tools })
    }
}

/// How many tokens a request takes, with a margin for a tokenizer that is not ours.
fn estimate(request: &ChatRequest) -> u64 {
    let body = wire::messages(request).to_string() + &wire::tools(&request.tools).to_string();
    let counted = count_tokens(&body) as u64;
    counted + counted / 8
}
