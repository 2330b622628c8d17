//! Conversations: sequences of exchanges.

use serde::Serialize;

use crate::{ConversationId, ExchangeId, Timestamp};

/// A conversation with its metadata, but without its exchanges.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conversation {
    /// Id, unique within the store. Ids carry no order.
    pub id: ConversationId,
    /// Short title, initially the beginning of the first prompt.
    pub title: String,
    /// Project directory the conversation belongs to.
    pub scope: String,
    /// Model that gave the most recent answer.
    pub model: String,
    /// When the first exchange started.
    pub created: Timestamp,
    /// Latest completion time of its exchanges.
    pub updated: Timestamp,
    /// Number of its own exchanges. A fork does not count those it shares with its parent.
    pub exchange_count: u64,
    /// Conversation this one was forked from, unless it has been deleted.
    pub forked_from: Option<ConversationId>,
    /// Summary of the conversation, if one has been written.
    pub summary: Option<String>,
    /// Whether the user lets programs that work for other projects see it.
    pub is_shared: bool,
}

impl Conversation {
    /// Returns whether a program that works for `project` may see the conversation.
    pub fn is_visible_to(&self, project: &str) -> bool {
        self.is_shared || self.scope == project
    }
}

/// A conversation that does not exist yet. It is created together with its first exchange.
#[derive(Debug, Clone, PartialEq)]
pub struct NewConversation {
    /// See [`Conversation::title`].
    pub title: String,
    /// See [`Conversation::scope`].
    pub scope: String,
}

impl NewConversation {
    /// Creates a conversation whose title is the beginning of `prompt`.
    pub fn titled_after(prompt: &str, scope: &str) -> Self {
        Self { title: title_from(prompt), scope: scope.to_owned() }
    }
}

/// Where to commit an exchange.
#[derive(Debug, Clone, PartialEq)]
pub enum ConversationTarget {
    /// Creates a conversation for the exchange.
    New(NewConversation),
    /// Appends the exchange to an existing conversation.
    Existing {
        /// Conversation that receives the exchange.
        conversation: ConversationId,
        /// Last exchange that the caller has read, or `None` if there was none. A store rejects the commit if the
        /// conversation has a newer exchange, so two sessions cannot interleave unnoticed.
        last_seen: Option<ExchangeId>,
    },
    /// Replaces an exchange of an existing conversation. The replaced exchange is deleted.
    Replace {
        /// Conversation that receives the exchange.
        conversation: ConversationId,
        /// Exchange whose place the new exchange takes.
        replaced: ExchangeId,
        /// Same meaning as in [`ConversationTarget::Existing`].
        last_seen: Option<ExchangeId>,
    },
}

/// Returns the first non-empty line, shortened to fit in a list.
fn title_from(prompt: &str) -> String {
    const MAX_CHARS: usize = 60;
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut title: String = line.chars().take(MAX_CHARS).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    title
}

#[cfg(test)]
mod tests {
    use super::title_from;

    #[test]
    fn title_is_the_first_line_truncated_at_a_character_boundary() {
        assert_eq!(title_from("\n  How do I sort?\nIn Rust."), "How do I sort?");
        assert_eq!(title_from(&"é".repeat(61)), format!("{}…", "é".repeat(60)));
        assert_eq!(title_from("  \n "), "");
    }
}
