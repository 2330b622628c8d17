//! Conversations: one thread of talk each.

use serde::Serialize;

use crate::{ConversationId, ExchangeId, Timestamp};

/// A stored conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// A short title; until a better one is made, the first words of its first prompt.
    pub title: String,
    /// The project (a directory) it belongs to.
    pub scope: String,
    /// The model that answered last.
    pub model: String,
    /// When its first exchange was committed.
    pub created: Timestamp,
    /// When its last exchange was committed.
    pub updated: Timestamp,
    /// How many exchanges it holds.
    pub exchange_count: u64,
    /// The conversation that it branched off, if that is still there.
    pub forked_from: Option<ConversationId>,
    /// What it was about, once that was summed up.
    pub summary: Option<String>,
}

/// What a conversation is born with. It comes into being together with its first exchange.
#[derive(Debug, Clone, PartialEq)]
pub struct NewConversation {
    /// See [`Conversation::title`].
    pub title: String,
    /// See [`Conversation::scope`].
    pub scope: String,
}

impl NewConversation {
    /// A conversation titled after its first prompt.
    pub fn titled_after(prompt: &str, scope: &str) -> Self {
        Self { title: title_from(prompt), scope: scope.to_owned() }
    }
}

/// Where an exchange is to be committed.
#[derive(Debug, Clone, PartialEq)]
pub enum ConversationTarget {
    /// A conversation that does not exist yet.
    New(NewConversation),
    /// A conversation that exists.
    Existing {
        /// The conversation.
        conversation: ConversationId,
        /// The last exchange of it that the caller has read, or `None` if it had none. A store refuses the commit if the
        /// conversation has a newer exchange, so that two sessions cannot interleave without noticing.
        last_seen: Option<ExchangeId>,
    },
    /// A conversation that exists, in place of one of its exchanges, which is deleted.
    InPlaceOf {
        /// The conversation.
        conversation: ConversationId,
        /// The exchange that is replaced.
        replaced: ExchangeId,
        /// As for [`ConversationTarget::Existing`].
        last_seen: Option<ExchangeId>,
    },
}

/// The first line of a prompt, cut to a length that fits one line of a list.
fn title_from(prompt: &str) -> String {
    const LONGEST: usize = 60;
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut title: String = line.chars().take(LONGEST).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    title
}

#[cfg(test)]
mod tests {
    use super::title_from;

    #[test]
    fn a_title_is_the_first_line_cut_between_characters() {
        assert_eq!(title_from("\n  How do I sort?\nIn Rust."), "How do I sort?");
        assert_eq!(title_from(&"é".repeat(61)), format!("{}…", "é".repeat(60)));
        assert_eq!(title_from("  \n "), "");
    }
}
