//! Who works in the background, and on what.

use std::fmt;

use serde::Serialize;

/// Who works in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerKind {
    /// Summarises exchanges.
    ExchangeSummarizer,
    /// Summarises conversations.
    ConversationSummarizer,
    /// Gives messages, summaries and chunks their vectors.
    EmbeddingGenerator,
}

impl WorkerKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 3] =
        [Self::ExchangeSummarizer, Self::ConversationSummarizer, Self::EmbeddingGenerator];

    /// The word the store keeps, and that commands take.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExchangeSummarizer => "exchange_summarizer",
            Self::ConversationSummarizer => "conversation_summarizer",
            Self::EmbeddingGenerator => "embedding_generator",
        }
    }

    /// Returns the worker that the store writes as `word`, or `None` if there is no such worker.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for WorkerKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// What kind of thing is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    /// A message.
    Message,
    /// An exchange.
    Exchange,
    /// A conversation.
    Conversation,
    /// What is sent in the place of the earlier part of a conversation; its id is the conversation's.
    Digest,
    /// A stretch of a document.
    Chunk,
}

impl SubjectKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Message, Self::Exchange, Self::Conversation, Self::Digest, Self::Chunk];

    /// The word the store keeps.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Exchange => "exchange",
            Self::Conversation => "conversation",
            Self::Digest => "digest",
            Self::Chunk => "chunk",
        }
    }

    /// Returns the kind that the store writes as `word`, or `None` if there is no such kind.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// One thing that is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Subject {
    /// What it is.
    pub kind: SubjectKind,
    /// Its id among those of its kind.
    pub id: i64,
}

impl Subject {
    /// A subject of a kind.
    pub const fn new(kind: SubjectKind, id: i64) -> Self {
        Self { kind, id }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.kind.as_str(), self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_known_by_its_word() {
        for kind in SubjectKind::ALL {
            assert_eq!(SubjectKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(SubjectKind::parse("nothing"), None);
        for kind in WorkerKind::ALL {
            assert_eq!(WorkerKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(WorkerKind::parse("nothing"), None);
        assert_eq!(Subject::new(SubjectKind::Exchange, 12).to_string(), "exchange 12");
    }
}
