//! What is sent: layers under one budget.
//!
//! One file for each layer, in the order in which they stand in a request: `system`, `core_memory`, `digest` (the summary
//! so far), `earlier` (auto-RAG), `window`, `tools`, and `document` with `spelling`. `budget` says what each may take, `build`
//! gathers them side by side (`basis` those that do not depend on memory), `assemble` puts them together, and `request` keeps
//! the whole within its room while tools add to it. `past` knows how far the conversation is in the window, `prepare` asks
//! ahead of time for a summary of what will leave it next.

mod assemble;
mod basis;
mod budget;
mod build;
mod build_input;
mod core_memory;
mod cut;
mod digest;
mod document;
mod earlier;
mod fragment;
mod notices;
mod past;
mod prepare;
mod request;
mod settings;
mod spelling;
mod system;
mod tools;
mod window;

pub use fragment::{ContextReport, Layer};
pub use settings::{ContextSettings, Placement};

pub(crate) use build_input::BuiltFor;
pub(crate) use notices::Notices;
pub(crate) use request::Context;
