//! What the user says about an exchange that is remembered.

use serde::{Deserialize, Serialize};

use crate::{ExchangeId, Timestamp};

/// What the user says about an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// It matters: found before others.
    Pinned,
    /// It does not hold any more: found after others, and marked.
    Wrong,
}

impl Mark {
    /// The word the store keeps.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Wrong => "wrong",
        }
    }
}

/// An exchange with a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Marked {
    /// The exchange.
    pub exchange_id: ExchangeId,
    /// What was said about it.
    pub mark: Mark,
    /// When.
    pub created: Timestamp,
}
