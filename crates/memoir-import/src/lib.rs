//! Bringing in talk from other programs.
//!
//! One file per format reads what a program exports into a [`Talk`]; [`bring_in`] files it. What was brought in before is known
//! again, so that importing twice adds nothing, and importing a longer export adds what is new.

mod bring_in;
mod whatsapp;

pub use bring_in::{Imported, bring_in};
pub use whatsapp::{DateOrder, whatsapp};

use memoir_core::Timestamp;

/// Something that someone said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// Who.
    pub author: String,
    /// When.
    pub created: Timestamp,
    /// What.
    pub text: String,
}

/// What becomes one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// What it is called.
    pub title: String,
    /// Where it comes from, as far as that tells: the program and the day.
    pub origin: String,
    /// What the talk is called there.
    pub name: String,
    /// What was said, oldest first.
    pub messages: Vec<Spoken>,
}

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
}
