//! Digests of exchanges that no longer fit in the window.

use crate::ExchangeId;

/// A digest of the exchanges that have left a conversation's window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// Last exchange covered by the digest.
    pub through: ExchangeId,
    /// Summary of the covered exchanges.
    pub summary: String,
    /// Instructions the user gave in the covered exchanges, quoted verbatim.
    pub pinned: Vec<String>,
    /// Summary prepared for when more exchanges leave the window.
    pub prepared: Option<PreparedSummary>,
    /// Last exchange that the next prepared summary should cover, if one has been requested.
    pub requested_through: Option<ExchangeId>,
    /// Whether the user asked for the summary. The covered exchanges then never return to the window.
    pub is_compact: bool,
}

/// A summary prepared in advance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedSummary {
    /// Last exchange covered by the summary.
    pub through: ExchangeId,
    /// Summary of the conversation up to that exchange.
    pub summary: String,
}
