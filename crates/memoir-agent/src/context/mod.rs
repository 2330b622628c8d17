//! Builds the context of a request: layers that share one token budget.
//!
//! Each layer has its own file. In the order of a request, these are `system`, `core_memory`, `digest` (the summary
//! so far), `earlier` (auto-RAG), `window`, `tools`, and `document` with `spelling`. `budget` divides the tokens
//! among the layers, `build` gathers them concurrently (`base_layers` those that need no memory search), `assemble`
//! combines them, and `request` keeps the request within its limit while tools add to it. `history` reads the
//! conversation and tracks which exchanges are in the window; `prepare` requests a summary of the exchanges that will
//! leave the window next.

mod assemble;
mod base_layers;
mod budget;
mod build;
mod build_input;
mod core_memory;
mod digest;
mod document;
mod earlier;
mod fragment;
mod history;
mod notices;
mod prepare;
mod prompt;
mod request;
mod settings;
mod spelling;
mod system;
mod tools;
mod truncate;
mod window;

pub use fragment::{ContextReport, Layer};
pub use settings::{ContextSettings, Placement};

pub(crate) use build_input::BuildPurpose;
pub(crate) use notices::Notices;
pub(crate) use prompt::Prompt;
pub(crate) use request::Context;
