//! Models on a server: the providers' dialects over HTTP.
//!
//! The genai crate speaks the providers' dialects behind [`RemoteModel`] and [`RemoteEmbedder`]; Ollama's, which genai
//! cannot speak fully, is spoken by [`OllamaModel`]. [`Retrying`] repeats calls of any chat model after transient
//! failures. No type of genai or of the HTTP client is visible outside this crate. Keys and addresses are passed in:
//! this crate never reads the environment.

mod embedder;
mod endpoint;
mod http;
mod local;
mod ollama;
mod remote;
mod retry;
mod secret;
mod status;

pub use embedder::RemoteEmbedder;
pub use endpoint::{Endpoint, InvalidAddress, default_url};
pub use local::{LocalServer, find_local_server, listens};
pub use ollama::OllamaModel;
pub use remote::RemoteModel;
pub use retry::{RetryPolicy, Retrying};

use std::time::Duration;

/// How a model on a server is called.
#[derive(Debug, Clone, Copy)]
pub struct CallOptions {
    /// How long a stream may be silent.
    pub idle_timeout: Duration,
    /// How hard a reasoning model should think; its own default when none is given.
    pub reasoning: Option<Reasoning>,
}

impl Default for CallOptions {
    fn default() -> Self {
        // Reasoning models think for a while before the first word.
        Self { idle_timeout: Duration::from_secs(120), reasoning: None }
    }
}

/// How hard a reasoning model should think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reasoning {
    /// A little.
    Low,
    /// Somewhat.
    Medium,
    /// As hard as it can.
    High,
}
