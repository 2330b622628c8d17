//! Marks that the user puts on remembered exchanges.

use serde::{Deserialize, Serialize};

use crate::{ExchangeId, Timestamp};

/// The user's judgment of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Important: ranked above other results.
    Pinned,
    /// No longer true: ranked below other results and labeled as wrong.
    Wrong,
}

impl Mark {
    /// Returns the stored name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Wrong => "wrong",
        }
    }
}

/// An exchange with a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ExchangeMark {
    /// Exchange that carries the mark.
    pub exchange_id: ExchangeId,
    /// Latest mark set by the user.
    pub mark: Mark,
    /// When the mark was set.
    pub created: Timestamp,
}
