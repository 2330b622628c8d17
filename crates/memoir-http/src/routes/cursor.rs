//! Cursors, which continue a list where a page ends.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use http::StatusCode;
use memoir_core::{ConversationId, ExchangeId, Timestamp};
use memoir_store::ListPosition;

use crate::problem::Problem;

/// Default number of items of a page.
pub(super) const DEFAULT_LIMIT: u32 = 20;

/// Maximum number of items of a page.
pub(super) const MAX_LIMIT: u32 = 100;

/// Returns the number of items of a page.
pub(super) fn page_size(limit: Option<u32>) -> Result<u32, Problem> {
    match limit.unwrap_or(DEFAULT_LIMIT) {
        limit @ 1..=MAX_LIMIT => Ok(limit),
        _ => Err(Problem::new(StatusCode::BAD_REQUEST, format!("`limit` must be between 1 and {MAX_LIMIT}"))),
    }
}

/// A position in a list that can be written as text.
pub(crate) trait Cursor: Sized {
    fn to_numbers(&self) -> Vec<i64>;
    fn from_numbers(numbers: &[i64]) -> Option<Self>;

    /// Returns the text that clients send back.
    fn encode(&self) -> String {
        let numbers: Vec<String> = self.to_numbers().iter().map(i64::to_string).collect();
        BASE64_URL_SAFE_NO_PAD.encode(numbers.join("."))
    }

    /// Reads the text that a client sends back.
    fn decode(text: &str) -> Result<Self, Problem> {
        let read = || {
            let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
            let numbers: Result<Vec<i64>, _> =
                std::str::from_utf8(&bytes).ok()?.split('.').map(str::parse).collect();
            Self::from_numbers(&numbers.ok()?)
        };
        read().ok_or_else(|| {
            Problem::new(StatusCode::BAD_REQUEST, "`cursor` is not one that this server returned")
                .hint("Leave it out to begin with the first page.")
        })
    }
}

impl Cursor for ListPosition {
    fn to_numbers(&self) -> Vec<i64> {
        vec![self.updated.as_millis(), self.id.get()]
    }

    fn from_numbers(numbers: &[i64]) -> Option<Self> {
        let [updated, id] = numbers else { return None };
        Some(Self { updated: Timestamp::from_millis(*updated), id: ConversationId::new(*id) })
    }
}

impl Cursor for ExchangeId {
    fn to_numbers(&self) -> Vec<i64> {
        vec![self.get()]
    }

    fn from_numbers(numbers: &[i64]) -> Option<Self> {
        let [id] = numbers else { return None };
        Some(Self::new(*id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_read_back_and_others_are_refused() {
        let position = ListPosition { updated: Timestamp::from_millis(-5), id: ConversationId::new(7) };
        assert_eq!(ListPosition::decode(&position.encode()).ok(), Some(position));
        assert!(ExchangeId::decode(&position.encode()).is_err());
        for text in ["", "x", "MQ==", "MS4y\n", "🙂", &"MQ".repeat(1000)] {
            assert!(ListPosition::decode(text).is_err(), "{text}");
        }
    }
}
