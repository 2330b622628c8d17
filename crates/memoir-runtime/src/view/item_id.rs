//! Ids by which other programs refer to things in memory.

use std::{fmt, str::FromStr};

use memoir_core::{ConversationId, ExchangeId};

/// The id of something in memory, such as `exchange-12`, `conversation-3` or `document-packing-list`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ItemId {
    /// A prompt and its answer.
    Exchange(ExchangeId),
    /// A conversation.
    Conversation(ConversationId),
    /// A document, by its name.
    Document(String),
}

/// The error for a text that is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an id; ids are exchange-N, conversation-N and document-NAME")]
pub struct InvalidItemId(String);

/// Maximum number of characters of an invalid id that an error quotes.
const MAX_QUOTED: usize = 60;

impl fmt::Display for ItemId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exchange(id) => write!(formatter, "exchange-{id}"),
            Self::Conversation(id) => write!(formatter, "conversation-{id}"),
            Self::Document(name) => write!(formatter, "document-{name}"),
        }
    }
}

impl FromStr for ItemId {
    type Err = InvalidItemId;

    fn from_str(text: &str) -> Result<Self, InvalidItemId> {
        let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number > 0);
        let id = match text.split_once('-') {
            Some(("exchange", id)) => number(id).map(|id| Self::Exchange(ExchangeId::new(id))),
            Some(("conversation", id)) => number(id).map(|id| Self::Conversation(ConversationId::new(id))),
            Some(("document", name)) if !name.is_empty() => Some(Self::Document(name.to_owned())),
            _ => None,
        };
        id.ok_or_else(|| InvalidItemId(text.chars().take(MAX_QUOTED).collect()))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::ItemId;

    #[test]
    fn ids_are_read_as_they_are_written() {
        for text in ["exchange-12", "conversation-3", "document-packing-list"] {
            assert_eq!(text.parse::<ItemId>().unwrap().to_string(), text);
        }
        for text in ["", "12", "exchange-", "exchange-0", "exchange--1", "exchange-1x", "document-", "post-3"]
        {
            assert!(text.parse::<ItemId>().is_err(), "{text}");
        }
    }
}
