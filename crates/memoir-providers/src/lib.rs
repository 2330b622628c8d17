//! Clients for models on a server.
//!
//! [`RemoteModel`], [`OllamaModel`] and [`RemoteEmbedder`] call the providers' HTTP APIs, each of which is a file in
//! `dialect/`. [`RetryingModel`] retries calls of any chat model after transient failures. No type of the HTTP client is
//! visible outside this crate. Keys and addresses are passed in: this crate never reads the environment.

mod connection;
mod dialect;
mod discovery;
mod embedder;
mod endpoint;
mod failure;
mod frames;
mod http;
mod local;
mod ollama;
mod relay;
mod remote;
mod reply;
mod retry;
mod secret;
mod status;

pub use embedder::RemoteEmbedder;
pub use endpoint::{Endpoint, InvalidAddress, default_url};
pub use http::install_tls_library;
pub use local::{LocalSearch, LocalServer, ServerModels, find_local_server, is_listening, list_models};
pub use ollama::OllamaModel;
pub use relay::{ClientApi, ObservedAnswer, Relay, RelayedReply, RelayedRequest, ReplyObserver};
pub use remote::RemoteModel;
pub use retry::{LOADING_INTERVAL, MAX_LOADING_TIME, RetryPolicy, RetryingModel};

use std::time::Duration;

/// Options for calling a model on a server.
#[derive(Debug, Clone, Copy)]
pub struct CallOptions {
    /// Maximum time without data from the server.
    pub idle_timeout: Duration,
    /// Reasoning effort. `None` leaves the choice to the model.
    pub reasoning: Option<Reasoning>,
}

impl Default for CallOptions {
    fn default() -> Self {
        // Reasoning models can be silent for a while before the first token.
        Self { idle_timeout: Duration::from_secs(120), reasoning: None }
    }
}

/// How much effort a reasoning model should spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reasoning {
    /// Short reasoning, sent to the provider as `low`.
    Low,
    /// Moderate reasoning, sent to the provider as `medium`.
    Medium,
    /// As much reasoning as the model supports.
    High,
}
