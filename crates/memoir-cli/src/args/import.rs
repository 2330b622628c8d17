//! `memoir import`.

use std::path::PathBuf;

use clap::Subcommand;
use memoir_runtime::operations::import::DateStyle;

use super::one_of;
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
        /// Which number of a date comes first: day (31/12/2023), month (12/31/2023) or year; told by the dates if left out
        #[arg(long, value_parser = one_of(DateStyle::ALL, DateStyle::as_str))]
        dates: Option<DateStyle>,
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
