//! The tools that a model may call: one trait, one file per tool, one list.
//!
//! A [`Tool`] takes JSON arguments and returns text. Errors are sent to the model as text too, so that it can react to
//! them. Before a call runs, its [`Plan`] describes what it would access. This crate does not decide which calls are
//! allowed, but it confines them: file access to the [`Workspace`], commands to the [`Sandbox`].

mod agent_summarizer;
mod change;
mod confine;
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
mod list;
mod output;
mod paths;
mod plan;
mod process_tree;
mod project_file;
mod protected;
mod run_subagent;
mod sandbox;
mod search_internet;
mod search_memory;
mod skill;
#[cfg(test)]
mod testing;
mod tool;
mod variables;
mod walk;
mod workspace;

pub use agent_summarizer::Summarizer;
pub use change::diff;
pub use confine::{CONFINE_ARGUMENT, run_confined};
pub use context::{CallReport, DeniedPaths, Reporter, ToolContext};
pub use core_memory::{CoreMemoryEdit, edit_core_memory};
pub use error::{DelegationError, ToolError, UnknownTool};
pub use list::ToolSet;
pub use output::{MAX_TOOL_OUTPUT_BYTES, truncate_output};
pub use plan::{Access, Plan};
pub use process_tree::{RegisteredGroup, kill_children, kill_groups, spawn_registered};
pub use project_file::{ProjectFileError, read_project_file};
pub use protected::is_protected;
pub use run_subagent::{Delegation, SubagentRunner};
pub use sandbox::Sandbox;
pub use search_internet::{Search, SearchError};
pub use skill::{Skill, Skills};
pub use tool::{Tool, ToolOutput};
pub use variables::Variables;
pub use workspace::Workspace;
