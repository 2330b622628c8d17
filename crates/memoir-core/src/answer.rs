//! The answer that memory gives to a prompt without a language model.

use crate::{ConversationId, CoreBlock, ExchangeId, Timestamp};

/// What memory says about a prompt. The passages that support it are in the [`Recollection`](crate::Recollection).
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The sentence that answers the question.
    Quotation(Quotation),
    /// The conversations of a period.
    Overview(Overview),
    /// The prompt states something, which is now stored.
    Noted {
        /// Statements that the prompt contradicts.
        supersedes: Vec<Quotation>,
    },
    /// Nothing in memory answers the question.
    Absent {
        /// The nearest thing that memory does say.
        related: Option<Quotation>,
    },
}

/// A sentence, list item or table row with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Quotation {
    /// The words as they were written.
    pub text: String,
    /// Where they were written.
    pub source: Source,
    /// Whether the question asks for a time, which the date of the source answers.
    pub answers_with_date: bool,
}

/// The source of a quotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A message of a conversation.
    Message {
        /// Conversation of the message.
        conversation: ConversationId,
        /// Exchange of the message.
        exchange: ExchangeId,
        /// Title of the conversation.
        title: String,
        /// Author, "you" or "assistant".
        speaker: String,
        /// When it was sent.
        created: Timestamp,
    },
    /// A document.
    Document {
        /// Name of the document.
        slug: String,
        /// Title of the document.
        title: String,
        /// Date of the document.
        date: String,
        /// Headings above the quotation, outermost first.
        headings: Vec<String>,
    },
    /// A block of core memory.
    CoreMemory(CoreBlock),
}

/// The conversations of a period, by day.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// Start of the period.
    pub start: Timestamp,
    /// End of the period, exclusive.
    pub end: Timestamp,
    /// Days with conversations, oldest first.
    pub days: Vec<OverviewDay>,
    /// Number of conversations that are not listed, because there are too many.
    pub omitted: usize,
}

/// One day of an overview.
#[derive(Debug, Clone, PartialEq)]
pub struct OverviewDay {
    /// A moment of that day.
    pub day: Timestamp,
    /// Conversations that have messages on that day, each with its title.
    pub conversations: Vec<(ConversationId, String)>,
}
