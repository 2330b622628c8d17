//! What is sent in the place of exchanges that have left a conversation's window.

use crate::ExchangeId;

/// What has left the window of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// Everything up to this exchange has.
    pub through: ExchangeId,
    /// What was said there, in short.
    pub summary: String,
    /// Instructions that the user gave there, word by word.
    pub pinned: Vec<String>,
    /// The summary for when more has left.
    pub prepared: Option<Prepared>,
    /// Up to which exchange such a summary is asked for.
    pub wanted: Option<ExchangeId>,
}

/// A summary that was made beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// For when everything up to this exchange has left.
    pub through: ExchangeId,
    /// What was said there.
    pub summary: String,
}
