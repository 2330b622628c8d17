//! `memoir import`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use memoir_runtime::operations::import::DateStyle;

use crate::completion_source::ValueSource;

/// What can be brought in.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Show which histories of other agents were found on this machine
    Found,
    /// ChatGPT: conversations.json of its data export, or the folder it lies in
    Chatgpt(ImportArgs),
    /// Claude: conversations.json of its data export, or the folder it lies in
    Claude(ImportArgs),
    /// Claude Code: session files or folders of them; those found on this machine if left out
    ClaudeCode(FoundArgs),
    /// Codex: session files or folders of them; those found on this machine if left out
    Codex(FoundArgs),
    /// Memoir: what memoir export --format jsonl wrote
    Memoir(ImportArgs),
    /// A chat that WhatsApp exported as text: a conversation for each day
    Whatsapp {
        /// The file
        #[arg(add = ValueSource::Files)]
        file: PathBuf,
        /// What the chat is called; what the file is called if left out
        #[arg(long)]
        name: Option<String>,
        /// Which number of a date comes first; told by the dates if left out
        #[arg(long, value_enum)]
        dates: Option<Dates>,
        /// Say what would be added, and add nothing
        #[arg(long)]
        dry_run: bool,
    },
}

/// Files to bring in.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// Files and folders
    #[arg(required = true, add = ValueSource::Files)]
    pub(crate) paths: Vec<PathBuf>,
    /// Say what would be added, and add nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Files to bring in, or those that are found.
#[derive(Debug, clap::Args)]
pub(crate) struct FoundArgs {
    /// Files and folders
    #[arg(add = ValueSource::Files)]
    pub(crate) paths: Vec<PathBuf>,
    /// Say what would be added, and add nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Which number of a date comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dates {
    /// 31/12/2023
    Day,
    /// 12/31/2023
    Month,
    /// 2023-12-31
    Year,
}

impl From<Dates> for DateStyle {
    fn from(dates: Dates) -> Self {
        match dates {
            Dates::Day => Self::Day,
            Dates::Month => Self::Month,
            Dates::Year => Self::Year,
        }
    }
}
