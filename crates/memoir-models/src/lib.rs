//! Chat models behind one trait, whoever serves them.
//!
//! [`ChatModel`] is what the rest of Memoir speaks to: a request goes in, a stream of events comes out.
//! The genai crate speaks the providers' dialects behind it; nothing of genai shows outside this crate.
//! Keys and addresses are handed in: this crate never reads the environment.

mod chat;
mod error;
mod name;
mod provider;

pub use chat::{
    ChatEvent, ChatMessage, ChatModel, ChatRequest, ChatStream, Finish, StopReason, ThinkingBlock, ToolResult,
};
pub use error::ModelError;
pub use name::{ModelName, Provider, UnknownModel};
pub use provider::{Endpoint, RemoteModel};
