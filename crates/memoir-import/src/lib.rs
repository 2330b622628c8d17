//! Imports conversations from other programs.
//!
//! One file per format reads what a program exports or stores into an [`ImportedHistory`]. [`detect_format`] recognises the format of a
//! file, [`discover`] lists the histories on this machine, and [`import_conversation`] stores a conversation. A conversation that was
//! imported before is recognised: importing it twice adds nothing, and importing a longer export adds what is new.

mod blocks;
mod branch;
mod builder;
mod chatgpt;
mod claude;
mod claude_code;
mod codex;
mod detect;
mod discover;
pub mod drafts;
mod exchanges;
mod import;
mod json;
pub mod memoir_format;
mod whatsapp;

pub use chatgpt::read_chatgpt;
pub use claude::read_claude;
pub use claude_code::read_claude_code;
pub use codex::read_codex;
pub use detect::{HistoryFormat, detect_format};
pub use discover::{DiscoveredHistory, discover};
pub use import::{ImportOutcome, import_conversation};
pub use memoir_format::read_memoir;
pub use whatsapp::{DateOrder, read_whatsapp};

use memoir_core::DraftMessage;

/// The model of an imported conversation whose file does not name one.
pub const UNKNOWN_MODEL: &str = "imported";

/// A conversation as it was read, before it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedConversation {
    /// What it is called.
    pub title: String,
    /// Where it comes from: the program, and what identifies the conversation there, as `chatgpt/<id>`, `claude/<uuid>`,
    /// `claude-code/<session id>`, `codex/<session id>`, `memoir/<created>/<id>`, `whatsapp/<day>/`.
    pub origin: String,
    /// The name of the chat there; empty where the origin alone identifies the conversation.
    pub name: String,
    /// The project it belongs to: the working directory, or the program's name where it has none.
    pub scope: String,
    /// The model that answered; [`UNKNOWN_MODEL`] if the file does not name one.
    pub model: String,
    /// Its messages, oldest first.
    pub messages: Vec<DraftMessage>,
}

/// The conversations in a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportedHistory {
    /// The conversations, oldest first.
    pub conversations: Vec<ImportedConversation>,
    /// What was left out: each kind, and how many there were.
    pub skipped: Vec<(&'static str, u64)>,
}

/// Why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// It is something else.
    #[error("this is not {0}")]
    NotThis(&'static str),
    /// A date in it cannot be.
    #[error("line {line}: \"{text}\" is not a date, {how}")]
    Date {
        /// Where.
        line: usize,
        /// What stands there.
        text: String,
        /// Read in which order.
        how: &'static str,
    },
    /// A newer Memoir wrote it.
    #[error("a newer Memoir wrote this, in format {format}; this one reads formats up to {known}")]
    Newer {
        /// The format it is in.
        format: u32,
        /// The newest that is known here.
        known: u32,
    },
}
