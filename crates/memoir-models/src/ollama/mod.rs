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
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio::{sync::OnceCell, time::timeout};

use crate::{
    CallOptions, ChatEvent, ChatModel, ChatRequest, ChatStream, Endpoint, ModelError, ModelName, Reasoning,
    http,
};

/// Room for the answer.
const REPLY_TOKENS: u64 = 4096;

/// A context is never set smaller than this. Sizes then double, since every new size reloads the model.
const SMALLEST_CONTEXT: u64 = 8192;

/// A model on an Ollama server.
pub struct OllamaModel {
    name: String,
    server: Arc<Server>,
    options: CallOptions,
    /// What the model has, asked once.
    context: OnceCell<Option<u64>>,
    /// The size in use; it only grows.
    in_use: AtomicU64,
}

struct Server {
    model: String,
    url: String,
    shown_url: String,
    key: Option<secrecy::SecretString>,
    client: reqwest::Client,
}

impl OllamaModel {
    /// A model reached at `endpoint`.
    pub fn new(name: &ModelName, endpoint: &Endpoint, options: CallOptions) -> Result<Self, ModelError> {
        Ok(Self {
            name: name.to_string(),
            server: Arc::new(Server {
                model: name.model.clone(),
                url: endpoint.url.clone(),
                shown_url: endpoint.shown_url.clone(),
                key: endpoint.key.clone(),
                client: http::client()?,
            }),
            options,
            context: OnceCell::new(),
            in_use: AtomicU64::new(SMALLEST_CONTEXT),
        })
    }

    /// The context size to ask for, or why the request does not fit.
    async fn context_for(&self, request: &ChatRequest) -> Result<u64, ModelError> {
        let available = self.context.get_or_try_init(|| self.server.context_length()).await?;
        let needed = estimate(request);
        if let Some(available) = *available
            && needed > available
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

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, ModelError> {
        let idle = self.options.idle_timeout;
        let silent = |_| ModelError::IdleTimeout { after: idle };
        let context = timeout(idle, self.context_for(&request)).await.map_err(silent)??;
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
                    for event in reply.read(&line) {
                        let event = event.map_err(|error| error.without(server.secret()));
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

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        Some(Usd::ZERO)
    }
}

impl Server {
    /// The key, to be kept out of what is shown.
    fn secret(&self) -> &str {
        self.key.as_ref().map(secrecy::SecretString::expose_secret).unwrap_or_default()
    }

    async fn post(&self, path: &str, body: &Value) -> Result<reqwest::Response, ModelError> {
        let mut request = self.client.post(format!("{}{path}", self.url)).json(body);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key.expose_secret());
        }
        let response =
            request.send().await.map_err(|error| http::transport_error(&error, &self.shown_url))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, wait) = (response.status().as_u16(), http::retry_after(response.headers()));
        let said = response.text().await.unwrap_or_default();
        Err(ModelError::from_status(status, &said, wait).without(self.secret()))
    }

    /// The size of the model's context, where the server tells.
    async fn context_length(&self) -> Result<Option<u64>, ModelError> {
        let response = self.post("api/show", &json!({"model": self.model})).await?;
        let shown: Value =
            response.json().await.map_err(|error| http::transport_error(&error, &self.shown_url))?;
        let lengths = shown["model_info"].as_object().into_iter().flatten();
        Ok(lengths.filter(|(key, _)| key.ends_with(".context_length")).find_map(|(_, value)| value.as_u64()))
    }
}

/// How many tokens a request takes, with a margin for a tokenizer that is not ours.
fn estimate(request: &ChatRequest) -> u64 {
    let body = wire::messages(request).to_string() + &wire::tools(&request.tools).to_string();
    let counted = count_tokens(&body) as u64;
    counted + counted / 8
}
