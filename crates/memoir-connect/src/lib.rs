//! Connects Memoir to other programs by editing their configuration.
//!
//! A host is a program with a language model that can use Memoir, such as Claude Code or Zed. Connecting writes
//! an MCP server, hooks and a skill into the host's own files, each in its documented place and format.
//!
//! Every change goes through a [`ConnectionPlan`], so that the caller can show it first:
//!
//! 1. [`plan_connection`] or [`plan_removal`] reads the files and computes their new contents.
//! 2. [`apply`] writes all of them, or none if one has changed since or cannot be written.
//! 3. The caller saves the [`Records`], which describe how to go back.
//!
//! Only the text that Memoir needs is inserted: comments, order, indentation, line endings and unknown keys stay
//! as they are. Removal restores the previous content byte for byte if nobody has edited the file since.
//! Otherwise it removes Memoir's own keys and leaves the rest.
//!
//! Each host has one file in `hosts`, which lists its files as `HostFile`s. The rest of the
//! crate handles these lists and does not know the hosts.

mod apply;
mod content;
mod diff;
mod error;
mod host;
mod hosts;
mod json_config;
mod json_hooks;
mod jsonc;
mod places;
mod plan;
mod records;
mod skill;
mod toml;
mod undo;
mod write;

pub use apply::{apply, revert};
pub use error::{ConfigFormat, ConnectError};
pub use host::{HookMoment, Host};
pub use places::{ConfigLevel, MemoirCommand, Places};
pub use plan::{ConnectionPlan, FileChange, PlanKind, plan_connection, plan_removal};
pub use records::{FileRecord, Records};
pub use undo::TextEdit;
