//! `memoir memory`, and what else is done with what is remembered.

use std::path::PathBuf;

use clap::Subcommand;
use memoir_core::CoreBlock;
use memoir_runtime::operations::export::ExportFormat;

use super::one_of;
use crate::completion_source::ValueSource;

/// What is looked for.
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(required = true, num_args = 1.., add = ValueSource::FreeText)]
    pub(crate) query: Vec<String>,
    /// Only what was said from this day on: 2026-05-01, yesterday, "last week", "in May"
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
    /// Only what was said in this project
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) scope: Option<PathBuf>,
    /// At most so many
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What can be done with memory.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Show what is always in context, what is pinned and what is marked as wrong
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show an exchange with all its messages; without a number, the same as list
    Show {
        /// The exchange's number
        exchange: Option<i64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Look for something in everything that was said
    Search(SearchArgs),
    /// Change what is always in context: with the text, or in your editor
    Edit(BlockArgs),
    /// Take back the last change of what is always in context
    Undo,
    /// Pin an exchange: it is found before others
    Pin(ExchangeArgs),
    /// Take a pin away
    Unpin(ExchangeArgs),
    /// Mark an exchange as wrong: it is found after others, and marked as superseded
    Wrong(ExchangeArgs),
    /// Take such a mark away
    Right(ExchangeArgs),
    /// Forget something with everything derived from it: vectors, words, summaries, posts; says first what that is
    Forget(ForgetArgs),
}

/// An exchange.
#[derive(Debug, clap::Args)]
pub(crate) struct ExchangeArgs {
    /// The exchange's number
    pub(crate) exchange: i64,
}

/// A block of what is always in context, and what it is to say.
#[derive(Debug, clap::Args)]
pub(crate) struct BlockArgs {
    /// The block: user, project or instructions
    #[arg(value_parser = one_of(CoreBlock::ALL, CoreBlock::as_str))]
    pub(crate) block: CoreBlock,
    /// What it is to say; without it, your editor opens
    #[arg(num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true, add = ValueSource::FreeText)]
    pub(crate) text: Vec<String>,
}

/// What can be done with conversations.
#[derive(Debug, Subcommand)]
pub(crate) enum ConversationsCommand {
    /// List conversations, the last ones first
    List {
        /// Only those whose title has these letters
        #[arg(long, value_name = "TEXT")]
        matching: Option<String>,
        /// Only those of this project
        #[arg(long, value_name = "DIRECTORY")]
        scope: Option<PathBuf>,
        /// At most so many
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what was said in one
    Show {
        /// Its number
        id: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl Default for ConversationsCommand {
    fn default() -> Self {
        Self::List { matching: None, scope: None, limit: 20, json: false }
    }
}

/// What is written down, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// How it is written: markdown, to read what was asked and answered, or jsonl, to keep everything and import it again
    #[arg(long, default_value = "markdown", value_parser = one_of(ExportFormat::ALL, ExportFormat::as_str))]
    pub(crate) format: ExportFormat,
    /// Only this conversation
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<i64>,
    /// Only conversations of this project
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) scope: Option<PathBuf>,
    /// Where to; to stdout if left out
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Which backup is put back.
#[derive(Debug, clap::Args)]
pub(crate) struct RestoreArgs {
    /// The folder that memoir backup made
    pub(crate) folder: PathBuf,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

/// What is forgotten.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").args(["message", "exchange", "conversation", "document"]).multiple(false))]
pub(crate) struct ForgetArgs {
    /// A message
    #[arg(long, value_name = "ID")]
    pub(crate) message: Option<i64>,
    /// An exchange
    #[arg(long, value_name = "ID")]
    pub(crate) exchange: Option<i64>,
    /// A conversation
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<i64>,
    /// A document, by its name or number
    #[arg(long, value_name = "NAME")]
    pub(crate) document: Option<String>,
    /// Everything that was said from this day on
    #[arg(long, value_name = "DATE", conflicts_with = "what")]
    pub(crate) since: Option<String>,
    /// Everything that was said up to the end of this day
    #[arg(long, value_name = "DATE", conflicts_with = "what")]
    pub(crate) until: Option<String>,
    /// Say what would be forgotten, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}
