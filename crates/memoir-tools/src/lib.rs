//! What a model may do: one trait, one file per tool, one list.
//!
//! A tool takes JSON arguments and gives text. What goes wrong is text too, since the model is the one who
//! can do something about it. This crate decides nothing about who may call what.

mod context;
mod core_memory;
mod database_tables;
mod error;
mod fetch_conversation_details;
mod file_read;
mod list;
mod output;
mod search_memory;
#[cfg(test)]
mod testing;
mod tool;

pub use context::ToolContext;
pub use core_memory::{Editing, edit_core_memory};
pub use error::ToolError;
pub use list::ToolSet;
pub use tool::{Tool, ToolOutput};
