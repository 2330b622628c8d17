//! Chat and embedding models behind traits, whoever serves them; the catalogue and its prices.
//!
//! [`ChatModel`] and [`Embedder`] are what the rest of Memoir speaks to. The genai crate speaks the
//! providers' dialects behind [`RemoteModel`]; Ollama's, which genai cannot speak fully, is spoken here.
//! [`Retrying`] makes any of them calm when they fail. Nothing of genai shows outside this crate. Keys and
//! addresses are handed in: this crate never reads the environment.

mod catalogue;
mod chat;
mod embed;
mod endpoint;
mod error;
mod http;
mod local;
mod name;
mod ollama;
mod remote;
mod retry;
mod secret;

pub use catalogue::{Catalogue, CatalogueError, EmbeddingInfo, LongPrice, ModelInfo, PerMillion, Price};
pub use chat::{
    ChatEvent, ChatMessage, ChatModel, ChatRequest, ChatStream, Finish, ModelLimits, Replay, StopReason,
    ToolResult, WholeAnswer, bill, whole_answer,
};
pub use embed::{EmbedTask, Embedder, Embeddings, RemoteEmbedder};
pub use endpoint::{Endpoint, InvalidAddress, default_url};
pub use error::ModelError;
pub use local::{LocalServer, find_local_server, listens};
pub use name::{ModelName, Provider, UnknownModel};
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
