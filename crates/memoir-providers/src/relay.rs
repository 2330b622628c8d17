//! Forwards requests of other programs to a provider as they are, and reads the replies along the way.

use std::time::Duration;

use ::http::HeaderMap;
use bytes::Bytes;
use memoir_core::{ToolCall, Usage};
use memoir_models::{ChatEvent, ModelError, Provider, StopReason};
use tokio::time::timeout;

use crate::{
    Endpoint,
    connection::Connection,
    dialect::{self, Framing},
    http,
    reply::Reply,
};

/// The API that a program speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClientApi {
    /// OpenAI's `/v1/chat/completions`, which most servers offer.
    Chat,
    /// OpenAI's `/v1/responses`.
    Responses,
    /// Anthropic's `/v1/messages`.
    Messages,
    /// Anthropic's `/v1/messages/count_tokens`.
    TokenCount,
    /// OpenAI's `/v1/embeddings`.
    Embeddings,
}

impl ClientApi {
    /// Returns the path below the base URL of a provider.
    fn path(self, provider: Provider) -> String {
        let path = match self {
            Self::Chat => "chat/completions",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::TokenCount => "messages/count_tokens",
            Self::Embeddings => "embeddings",
        };
        match provider {
            Provider::Google => format!("openai/{path}"),
            Provider::Ollama => format!("v1/{path}"),
            _ => path.to_owned(),
        }
    }

    fn dialect(self) -> Box<dyn dialect::Dialect> {
        match self {
            Self::Chat | Self::Embeddings => dialect::of(Provider::OpenAiCompatible, None),
            Self::Responses => dialect::of(Provider::OpenAi, Some(memoir_models::ModelApi::Responses)),
            Self::Messages | Self::TokenCount => dialect::of(Provider::Anthropic, None),
        }
    }
}

/// A provider that requests are forwarded to.
pub struct Relay {
    connection: Connection,
    provider: Provider,
}

/// A request to forward.
pub struct RelayedRequest {
    /// The API that the program speaks.
    pub api: ClientApi,
    /// The body.
    pub body: Vec<u8>,
    /// Headers of the program that matter to the provider.
    pub headers: HeaderMap,
    /// Whether `headers` contain the key, so that Memoir's own is not sent.
    pub has_key: bool,
    /// Maximum time until the reply begins.
    pub start_timeout: Duration,
    /// Maximum time without data from the provider.
    pub idle_timeout: Duration,
}

impl Relay {
    /// Prepares to forward requests. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails if no HTTP client can be created.
    pub fn new(provider: Provider, endpoint: &Endpoint) -> Result<Self, ModelError> {
        Ok(Self { connection: Connection::new(endpoint)?, provider })
    }

    /// Forwards a request. An error of the provider is a reply, too.
    ///
    /// # Errors
    ///
    /// Fails if the provider cannot be reached or does not answer in time.
    pub async fn send(&self, request: RelayedRequest) -> Result<RelayedReply, ModelError> {
        let RelayedRequest { api, body, mut headers, has_key, start_timeout, idle_timeout } = request;
        if !has_key && !self.connection.secret.expose().is_empty() {
            for (name, value) in api.dialect().key_headers(&self.connection.secret) {
                // The program may speak another version of the API than Memoir.
                if !headers.contains_key(name) {
                    headers.insert(name, http::sensitive(&value)?);
                }
            }
        }
        let path = api.path(self.provider);
        let sending = self.connection.send_bytes(&path, headers, body);
        let timed_out = |_| ModelError::IdleTimeout { after: start_timeout };
        let response = timeout(start_timeout, sending).await.map_err(timed_out)??;
        Ok(RelayedReply { response, connection: self.connection.clone(), idle_timeout })
    }
}

/// The reply of a provider.
pub struct RelayedReply {
    response: reqwest::Response,
    connection: Connection,
    idle_timeout: Duration,
}

impl RelayedReply {
    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns the headers.
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Returns the next part of the body, or `None` at its end.
    ///
    /// # Errors
    ///
    /// Fails if the connection breaks, or if the provider sends nothing for too long.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ModelError> {
        let timed_out = |_| ModelError::IdleTimeout { after: self.idle_timeout };
        let chunk = timeout(self.idle_timeout, self.response.chunk()).await.map_err(timed_out)?;
        chunk.map_err(|error| self.connection.transport_error(&error))
    }

    /// Returns an observer of the body.
    pub fn observe(&self, api: ClientApi) -> ReplyObserver {
        let reader = api.dialect().reader();
        let reply = Reply::new(Framing::Events, reader, self.connection.clone());
        ReplyObserver { reply, answer: ObservedAnswer::default(), end: None, has_failed: false }
    }
}

/// What a model answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObservedAnswer {
    /// The text, without reasoning.
    pub text: String,
    /// Tools that the model wants the program to call.
    pub tool_calls: Vec<ToolCall>,
    /// Tokens used, if the provider reports them.
    pub usage: Option<Usage>,
    /// Id by which a later request can refer to it.
    pub response: Option<String>,
    /// Whether the model waits for the program, for another reason than `tool_calls`.
    pub is_open: bool,
}

/// Reads a reply that is passed on.
pub struct ReplyObserver {
    reply: Reply,
    answer: ObservedAnswer,
    end: Option<StopReason>,
    /// Whether a part could not be read. The rest is passed on unread.
    has_failed: bool,
}

impl ReplyObserver {
    /// Reads the next part of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.end.is_none() && !self.has_failed {
            let events = self.reply.push(bytes);
            self.read(events);
        }
    }

    /// Reads what is left when the body has ended.
    pub fn close(&mut self) {
        if self.end.is_none() && !self.has_failed {
            let events = self.reply.close();
            self.read(events);
        }
    }

    fn read(&mut self, events: Vec<Result<ChatEvent, ModelError>>) {
        for event in events {
            match event {
                Ok(ChatEvent::Text(text)) => self.answer.text.push_str(&text),
                Ok(ChatEvent::ToolCall(call)) => self.answer.tool_calls.push(call),
                Ok(ChatEvent::Usage(usage)) => *self.answer.usage.get_or_insert_default() += usage,
                Ok(ChatEvent::End(finish)) => {
                    self.end = Some(finish.reason);
                    self.answer.response = self.reply.id.take();
                    self.answer.is_open |= self.reply.is_open;
                }
                Ok(ChatEvent::Thinking(_) | ChatEvent::Retrying { .. }) => {}
                Err(error) => {
                    tracing::debug!(%error, "a reply that is passed on is not complete");
                    self.has_failed = true;
                    return;
                }
            }
        }
    }

    /// Returns the answer, once it is complete.
    pub fn answer(&self) -> Option<&ObservedAnswer> {
        self.end.map(|_| &self.answer)
    }
}
