//! Background workers and the subjects they process.

use std::fmt;

use serde::Serialize;

/// A kind of background worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerKind {
    /// Writes a summary of each exchange.
    ExchangeSummarizer,
    /// Writes summaries of conversations, and digests of exchanges that leave the window.
    ConversationSummarizer,
    /// Embeds messages, summaries and chunks.
    EmbeddingGenerator,
}

impl WorkerKind {
    /// All kinds, in display order.
    pub const ALL: [Self; 3] =
        [Self::ExchangeSummarizer, Self::ConversationSummarizer, Self::EmbeddingGenerator];

    /// Returns the name used in the database and in commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExchangeSummarizer => "exchange_summarizer",
            Self::ConversationSummarizer => "conversation_summarizer",
            Self::EmbeddingGenerator => "embedding_generator",
        }
    }

    /// Returns the worker kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for WorkerKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The kind of object that a worker processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    /// A message, identified by its own id.
    Message,
    /// An exchange. As the subject of an embedding, its summary.
    Exchange,
    /// A conversation. As the subject of an embedding, its summary.
    Conversation,
    /// The digest of a conversation's earlier part, identified by the conversation's id.
    Digest,
    /// A chunk of a document.
    Chunk,
}

impl SubjectKind {
    /// All subject kinds, searched by [`Self::parse`].
    pub const ALL: [Self; 5] = [Self::Message, Self::Exchange, Self::Conversation, Self::Digest, Self::Chunk];

    /// Returns the stored name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Exchange => "exchange",
            Self::Conversation => "conversation",
            Self::Digest => "digest",
            Self::Chunk => "chunk",
        }
    }

    /// Returns the subject kind with this stored name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// One object that a worker processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Subject {
    /// Kind of the object.
    pub kind: SubjectKind,
    /// Id, unique within the kind.
    pub id: i64,
}

impl Subject {
    /// Creates a subject from its kind and id.
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
    fn every_kind_parses_from_its_name() {
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
