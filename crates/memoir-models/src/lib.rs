//! The seam between Memoir and its models: traits, types, names, the catalogue and its prices.
//!
//! [`ChatModel`] and [`Embedder`] are what the rest of Memoir calls. This crate holds no implementation of them and
//! no HTTP client: models on a server are in `memoir-providers`, the compiled-in embedding model is in
//! `memoir-embed`, and `memoir/recall` is in `memoir-recall`.

mod catalogue;
mod chat;
mod embed;
mod error;
mod name;

pub use catalogue::{
    Catalogue, CatalogueError, EmbeddingInfo, InvalidPrice, LongPrice, ModelInfo, PerMillion, Price,
};
pub use chat::{
    ChatEvent, ChatMessage, ChatModel, ChatRequest, ChatStream, Finish, ModelLimits, Replay, StopReason,
    ToolResult, WholeAnswer, bill, whole_answer,
};
pub use embed::{EmbedTask, EmbeddedTexts, Embedder};
pub use error::ModelError;
pub use name::{ModelName, Provider, UnknownModel};
