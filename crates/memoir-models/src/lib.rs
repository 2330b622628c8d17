//! The interface between Memoir and its models: traits, requests, errors, names, and the catalog with its prices.
//!
//! The rest of Memoir calls models through [`ChatModel`], [`Embedder`] and [`Reader`]. This crate does not implement these
//! traits: `memoir-providers` does so for models on a server, `memoir-embed` for the built-in models, and `memoir-recall`
//! for `memoir/recall`.

mod catalog;
mod chat;
mod embed;
mod error;
mod name;
mod reader;

pub use catalog::{
    Catalog, CatalogError, EmbeddingInfo, InvalidPrice, LongPrice, ModelApi, ModelInfo, PerMillion, Price,
};
pub use chat::{
    ChatEvent, ChatMessage, ChatModel, ChatRequest, ChatStream, CompleteAnswer, Finish, ModelLimits, Replay,
    StopReason, ToolResult, collect_answer, price_call,
};
pub use embed::{EmbedTask, EmbeddedTexts, Embedder};
pub use error::ModelError;
pub use name::{ModelName, Provider, UnknownModel};
pub use reader::{Reader, ReaderQuestion, ReaderText};
