//! What was said, in short.

use serde::Serialize;

/// A summary, and who wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// What was said, in a sentence or a few.
    pub text: String,
    /// The model that wrote it, or [`Summary::EXTRACT`].
    pub by: String,
}

impl Summary {
    /// The writer of a summary that is made of quotations: made anew when there is a model.
    pub const EXTRACT: &'static str = "extract";
}

/// Who works in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerKind {
    /// Summarises exchanges.
    ExchangeSummarizer,
    /// Summarises conversations.
    ConversationSummarizer,
    /// Gives messages their vectors.
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
}
