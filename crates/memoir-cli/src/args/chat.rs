//! Arguments of a conversation, whether it is opened or asked one question.

use std::path::PathBuf;

use clap::ArgAction;

use crate::completion_source::{complete_models, complete_modes};

#[derive(Debug, Default, clap::Args)]
pub(crate) struct ChatArgs {
    /// Resume the latest conversation in this project
    #[arg(short, long = "continue", conflicts_with = "resume")]
    pub(crate) continue_last: bool,

    /// Resume a conversation by its ID or words of its title; without them, choose one from a list
    #[arg(short, long, value_name = "ID", num_args = 0..=1)]
    pub(crate) resume: Option<Option<String>>,

    /// Fork the conversation selected with -c or -r, and leave the original unchanged
    #[arg(long)]
    pub(crate) fork: bool,

    /// Neither read nor write memory; nothing from this conversation is saved
    #[arg(long, conflicts_with_all = ["continue_last", "resume", "fork"])]
    pub(crate) incognito: bool,

    /// Model to use, as `provider/model` or a bare model name
    #[arg(short, long, value_name = "NAME", add = complete_models())]
    pub(crate) model: Option<String>,

    /// Show more detail: -v shortened tool arguments, -vv full tool arguments, -vvv requests, -vvvv tool schemas
    #[arg(short, long, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    /// Approval mode for tools: read-only, ask, auto-edit or full; without a terminal, calls that need approval are denied
    #[arg(long, value_name = "MODE", add = complete_modes())]
    pub(crate) approval: Option<String>,

    /// Additional directory that tools may work in; can be repeated
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) add_dir: Vec<PathBuf>,

    /// Wait for these MCP servers before the first answer, separated by commas, or for `all`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) wait_servers: Vec<String>,
}
