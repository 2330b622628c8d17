//! Imports conversations from other programs.
//!
//! Each format has its own module, which reads an export or a session file into an [`ImportedHistory`].
//! [`detect_format`] recognizes the format of a file, [`discover`] lists the histories on this machine, and
//! [`import_conversation`] stores a conversation. Importing a conversation again adds only its new messages.

mod aichat;
mod archive;
mod blocks;
mod branch;
mod builder;
mod chatgpt;
mod claude;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod database;
mod detect;
mod discover;
pub mod drafts;
mod exchanges;
mod follow;
mod gemini;
mod gemini_cli;
mod html;
mod import;
mod json;
mod llm;
mod markup;
pub mod memoir_format;
mod open_webui;
mod opencode;
mod whatsapp;
mod whatsapp_title;
mod yaml;

pub use aichat::{aichat_session_name, read_aichat};
pub use archive::{EntryReader, is_archive, read_archive};
pub use chatgpt::read_chatgpt;
pub use claude::read_claude;
pub use claude_code::read_claude_code;
pub use codex::read_codex;
pub use copilot::read_copilot;
pub use database::{is_database, read_database};
pub use detect::{HistoryFormat, detect_format};
pub use discover::{DiscoveredHistory, discover};
pub use follow::{FollowOutcome, LastExchange, follow_conversation};
pub use gemini::read_gemini;
pub use gemini_cli::read_gemini_cli;
pub use import::{ImportOutcome, import_conversation};
pub use memoir_format::read_memoir;
pub use open_webui::read_open_webui;
pub use opencode::{read_opencode, read_opencode_files};
pub use whatsapp::{DateOrder, read_whatsapp};
pub use whatsapp_title::whatsapp_chat_name;

use memoir_core::DraftMessage;

/// The model of an imported conversation whose file does not name one.
pub const UNKNOWN_MODEL: &str = "imported";

/// A conversation that was read from a file and is not stored yet.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedConversation {
    /// Title on one line.
    pub title: String,
    /// The program and the conversation's id in it, such as `chatgpt/<id>`, `codex/<session id>`,
    /// `memoir/<created>/<id>` or `whatsapp/<day>/`.
    pub origin: String,
    /// Name of the chat in that program. Empty if the origin alone identifies the conversation.
    pub name: String,
    /// Project of the conversation: its working directory, or the program's name if it has none.
    pub scope: String,
    /// Model that answered, or [`UNKNOWN_MODEL`].
    pub model: String,
    /// Whether the file contains the times of the messages. Otherwise they may differ in another copy of the
    /// conversation, and do not distinguish it.
    pub has_times: bool,
    /// Whether the file shows that the model is still working on the last prompt.
    pub is_open: bool,
    /// The messages, oldest first.
    pub messages: Vec<DraftMessage>,
}

/// The conversations in a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportedHistory {
    /// The conversations, oldest first.
    pub conversations: Vec<ImportedConversation>,
    /// Number of skipped items of each kind.
    pub skipped: Vec<(&'static str, u64)>,
}

/// The reason why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The file has another format. Contains a description of the expected one.
    #[error("this is not {0}")]
    WrongFormat(&'static str),
    /// A zip file has no entry with conversations. Contains the name of the program.
    #[error("this zip file contains no {0} conversations")]
    EmptyArchive(&'static str),
    /// A zip file cannot be unpacked.
    #[error("this zip file is damaged or encrypted")]
    DamagedArchive,
    /// A zip file unpacks to more than Memoir reads.
    #[error("this zip file unpacks to more than 1 GiB")]
    LargeArchive,
    /// A database cannot be read. Contains the reason.
    #[error("the database could not be read: {0}")]
    Database(String),
    /// A date does not exist.
    #[error("line {line}: \"{text}\" is not a valid date {order}")]
    Date {
        /// Line number, starting at 1.
        line: usize,
        /// The date as written in the file.
        text: String,
        /// Order in which the date was read, such as "with the day first".
        order: &'static str,
    },
    /// The database of a server has chats of several users.
    #[error("this database has the chats of several users")]
    SeveralUsers,
    /// A newer version of Memoir wrote the file.
    #[error(
        "this file was written by a newer version of Memoir (format {format}); \
         this version reads formats up to {supported}"
    )]
    Newer {
        /// Format of the file.
        format: u32,
        /// Newest format that this version reads.
        supported: u32,
    },
}
