//! Bringing in talk from other programs.
//!
//! One file per format reads what a program exports or keeps into a [`Talk`]; [`detect`] tells which format a file is,
//! [`discover`] which files there are, and [`bring_in`] files what was read. What was brought in before is known again, so
//! that importing twice adds nothing, and importing a longer export adds what is new.

mod blocks;
mod branch;
mod bring_in;
mod chatgpt;
mod claude;
mod claude_code;
mod codex;
mod detect;
mod discover;
mod exchanges;
mod gathering;
mod json;
pub mod memoir;
pub mod said;
mod whatsapp;

pub use bring_in::{Imported, bring_in};
pub use chatgpt::chatgpt;
pub use claude::claude;
pub use claude_code::claude_code;
pub use codex::codex;
pub use detect::{Format, detect};
pub use discover::{Found, discover};
pub use memoir::memoir;
pub use whatsapp::{DateOrder, whatsapp};

use memoir_core::DraftMessage;

/// The model of a conversation that does not tell who answered.
pub const UNTOLD_MODEL: &str = "imported";

/// What becomes one conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Thread {
    /// What it is called.
    pub title: String,
    /// Where it comes from: the program and what tells it from others there, as `chatgpt/<id>`, `claude/<uuid>`,
    /// `claude-code/<session id>`, `codex/<session id>`, `memoir/<created>/<id>`, `whatsapp/<day>/`.
    pub origin: String,
    /// What the talk is called there; empty where the origin tells all.
    pub name: String,
    /// The project it belongs to: the working directory, or the program's name where it has none.
    pub scope: String,
    /// Who answered, as far as it is told; [`UNTOLD_MODEL`] otherwise.
    pub model: String,
    /// What was said, oldest first.
    pub messages: Vec<DraftMessage>,
}

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Talk {
    /// Its conversations, oldest first.
    pub threads: Vec<Thread>,
    /// What was left out: how much of what kind.
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
