//! What a model may do: one trait, one file per tool, one list.
//!
//! A tool takes JSON arguments and gives text. What goes wrong is text too, since the model is the one who
//! can do something about it. Before it runs, a call tells what it would touch ([`Plan`]); this crate decides nothing about
//! who may call what, but confines whoever does: files to the workspace, commands to what [`Sandbox`] lets them.

mod agent_summarizer;
mod change;
mod context;
mod core_memory;
mod database_message;
mod database_query;
mod database_schema;
mod database_tables;
mod dir_create;
mod dir_delete;
mod dir_list;
mod error;
mod execute;
mod execute_bash;
mod execute_python;
mod fetch_conversation_details;
mod fetch_document;
mod file_copy;
mod file_delete;
mod file_edit;
mod file_glob;
mod file_grep;
mod file_move;
mod file_read;
mod file_stat;
mod file_tree;
mod file_write;
mod landlock;
mod list;
mod output;
mod paths;
mod plan;
mod run_subagent;
mod sandbox;
mod search_internet;
mod search_memory;
mod skill;
#[cfg(test)]
mod testing;
mod tool;
mod walk;
mod workspace;

pub use agent_summarizer::Summarizing;
pub use context::ToolContext;
pub use core_memory::{Editing, edit_core_memory};
pub use error::ToolError;
pub use landlock::become_confined;
pub use list::ToolSet;
pub use output::{LONGEST_OUTPUT, cap};
pub use plan::{Access, Plan};
pub use run_subagent::{Delegating, Delegation};
pub use sandbox::{CONFINED, Sandbox, Variables, end_children, keeping};
pub use search_internet::Search;
pub use skill::{Skill, Skills};
pub use tool::{Tool, ToolOutput};
pub use workspace::Workspace;
