//! Arguments of `memoir import`.

use std::path::PathBuf;

use clap::Subcommand;
use memoir_runtime::operations::import::DateStyle;

use super::one_of;
use crate::completion_source::ValueSource;

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// List the histories of other agents found on this machine
    Found,
    /// Import from aichat: session files, messages.md or directories; defaults to those found on this machine
    Aichat(LocalImportArgs),
    /// Import from ChatGPT: a data export, as a zip file, a directory or conversations.json
    Chatgpt(ImportArgs),
    /// Import from Claude: a data export, as a zip file, a directory or conversations.json
    Claude(ImportArgs),
    /// Import from Claude Code: session files or directories; defaults to those found on this machine
    ClaudeCode(LocalImportArgs),
    /// Import from Codex: session files or directories; defaults to those found on this machine
    Codex(LocalImportArgs),
    /// Import from Copilot CLI: session files or directories; defaults to those found on this machine
    Copilot(LocalImportArgs),
    /// Import from Cursor: its state.vscdb files or directories; defaults to those found on this machine
    Cursor(LocalImportArgs),
    /// Import from Gemini: a Google Takeout, as a zip file, a directory or MyActivity.json
    Gemini(ImportArgs),
    /// Import from Gemini CLI: session files or directories; defaults to those found on this machine
    GeminiCli(LocalImportArgs),
    /// Import from llm: its logs.db or directory; defaults to the one found on this machine
    Llm(LocalImportArgs),
    /// Import from Memoir: files written by `memoir export --format jsonl`
    Memoir(ImportArgs),
    /// Import from Open WebUI: exported chats as a JSON or zip file, or its webui.db
    OpenWebui(ImportArgs),
    /// Import from opencode: its database, exported sessions or directories; defaults to those found on this machine
    Opencode(LocalImportArgs),
    /// Import from WhatsApp: an exported chat, as a zip or text file, as one conversation per day
    Whatsapp {
        /// Exported chat
        #[arg(add = ValueSource::Files)]
        file: PathBuf,
        /// Name of the chat; defaults to the file name
        #[arg(long)]
        name: Option<String>,
        /// First number in a date: day (31/12/2023), month (12/31/2023) or year; detected from the dates if omitted
        #[arg(long, value_parser = one_of(DateStyle::ALL, DateStyle::as_str))]
        dates: Option<DateStyle>,
        /// Show what would be imported, without importing it
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// Files and directories to import
    #[arg(required = true, add = ValueSource::Files)]
    pub(crate) paths: Vec<PathBuf>,
    /// Show what would be imported, without importing it
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LocalImportArgs {
    /// Files and directories to import
    #[arg(add = ValueSource::Files)]
    pub(crate) paths: Vec<PathBuf>,
    /// Show what would be imported, without importing it
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl From<LocalImportArgs> for ImportArgs {
    fn from(LocalImportArgs { paths, dry_run }: LocalImportArgs) -> Self {
        Self { paths, dry_run }
    }
}
