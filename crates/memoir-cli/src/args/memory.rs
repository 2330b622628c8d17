//! Arguments of the commands that read, change or copy memory.

use std::path::PathBuf;

use clap::Subcommand;
use memoir_core::CoreBlock;
use memoir_runtime::operations::export::ExportFormat;

use super::one_of;
use crate::completion_source::ValueSource;

#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// Text to search for
    #[arg(required = true, num_args = 1.., add = ValueSource::FreeText)]
    pub(crate) query: Vec<String>,
    /// Only messages from this date on: 2026-05-01, yesterday, "last week", "in May"
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
    /// Only messages from this project
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) scope: Option<PathBuf>,
    /// Only messages from this program, such as claude-code, codex or memoir
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) from: Option<String>,
    /// Maximum number of results
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// List core memory, pinned exchanges and exchanges marked as wrong
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show an exchange with all its messages; without an ID, the same as list
    Show {
        /// ID of the exchange
        exchange: Option<i64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Search conversations and documents
    Search(SearchArgs),
    /// Edit a block of core memory, which is always in context
    Edit(BlockArgs),
    /// Undo the last change to core memory
    Undo,
    /// Pin an exchange, so that it ranks higher where it is relevant
    Pin(ExchangeArgs),
    /// Unpin an exchange
    Unpin(ExchangeArgs),
    /// Mark an exchange as wrong, so that it ranks below others and is shown as superseded
    Wrong(ExchangeArgs),
    /// Unmark an exchange that was marked as wrong
    Right(ExchangeArgs),
    /// Delete messages, exchanges, conversations or documents, and everything derived from them, after a preview
    Forget(ForgetArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExchangeArgs {
    /// ID of the exchange
    pub(crate) exchange: i64,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BlockArgs {
    /// Block to edit
    #[arg(value_parser = one_of(CoreBlock::ALL, CoreBlock::as_str))]
    pub(crate) block: CoreBlock,
    /// New text of the block; without it, your editor opens
    #[arg(num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true, add = ValueSource::FreeText)]
    pub(crate) text: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConversationsCommand {
    /// List conversations, latest first
    List {
        /// Only conversations with this text in the title
        #[arg(long, value_name = "TEXT")]
        matching: Option<String>,
        /// Only conversations in this project
        #[arg(long, value_name = "DIRECTORY")]
        scope: Option<PathBuf>,
        /// Maximum number of conversations
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a conversation
    Show {
        /// ID of the conversation
        id: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let programs that work for other projects see a conversation
    Share {
        /// ID of the conversation
        id: i64,
    },
    /// Show a conversation only to programs that work for its project
    Unshare {
        /// ID of the conversation
        id: i64,
    },
}

impl Default for ConversationsCommand {
    fn default() -> Self {
        Self::List { matching: None, scope: None, limit: 20, json: false }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// Export format: markdown has the prompts and answers, jsonl has everything and can be imported again
    #[arg(long, default_value = "markdown", value_parser = one_of(ExportFormat::ALL, ExportFormat::as_str))]
    pub(crate) format: ExportFormat,
    /// Only this conversation
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<i64>,
    /// Only conversations in this project
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) scope: Option<PathBuf>,
    /// File to write; defaults to stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RestoreArgs {
    /// Directory that `memoir backup` created; defaults to the newest daily backup
    pub(crate) directory: Option<PathBuf>,

    /// Skip the confirmation
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("target").args(["message", "exchange", "conversation", "document"]).multiple(false))]
pub(crate) struct ForgetArgs {
    /// Message to delete
    #[arg(long, value_name = "ID")]
    pub(crate) message: Option<i64>,
    /// Exchange to delete
    #[arg(long, value_name = "ID")]
    pub(crate) exchange: Option<i64>,
    /// Conversation to delete
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<i64>,
    /// Document to delete, by name or ID
    #[arg(long, value_name = "NAME")]
    pub(crate) document: Option<String>,
    /// First day of the period to delete
    #[arg(long, value_name = "DATE", conflicts_with = "target")]
    pub(crate) since: Option<String>,
    /// Last day of the period to delete
    #[arg(long, value_name = "DATE", conflicts_with = "target")]
    pub(crate) until: Option<String>,
    /// Show what would be deleted, without deleting it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Skip the confirmation
    #[arg(long)]
    pub(crate) yes: bool,
}
