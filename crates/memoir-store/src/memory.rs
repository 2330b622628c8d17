//! The searches and lookups that recall is built on.
//!
//! Each backend implements them in its own way: SQLite with FTS5 and an in-memory index, a database server with its own
//! full-text and vector search.

use std::ops::Range;

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, MessageId, Role, Subject, Timestamp};

use crate::Result;

/// Restricts a search. Applied before ranking, so filtered-out messages never use up the result limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Exclude messages of this conversation, usually the current one.
    pub excluded_conversation: Option<ConversationId>,
    /// Only messages of this conversation.
    pub conversation: Option<ConversationId>,
    /// Only conversations of this project.
    pub scope: Option<String>,
    /// Only what a program that works for this project may see: its conversations, and those that the user shares.
    pub visible_to: Option<String>,
    /// Only conversations with exchanges that took place in this program, such as `claude-code`. `memoir` is Memoir itself.
    pub program: Option<String>,
    /// Only conversations with messages of this author.
    pub author: Option<String>,
    /// Start of the time range, inclusive.
    pub since: Option<Timestamp>,
    /// End of the time range, exclusive.
    pub until: Option<Timestamp>,
    /// Only exchanges committed before this one.
    pub before: Option<ExchangeId>,
}

/// How exact a nearest-neighbor search should be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Accuracy {
    /// Exact as long as that is fast, approximate in a very large store.
    #[default]
    Auto,
    /// As exact as the store can be.
    Exact,
    /// Approximate, if the store has an approximate index.
    Approximate,
}

/// How much work a store should put into a vector search. These are hints: a store whose index cannot be tuned ignores
/// them, and they never change which rows a filter allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchEffort {
    /// How exact the results should be.
    pub accuracy: Accuracy,
    /// Number of candidates to compare exactly per requested result, if the store ranks by estimates first.
    pub candidates: usize,
}

impl Default for SearchEffort {
    fn default() -> Self {
        Self { accuracy: Accuracy::Auto, candidates: 4 }
    }
}

/// A search for the nearest embeddings.
#[derive(Debug, Clone, Copy)]
pub struct VectorSearch<'a> {
    /// Embedding model whose embeddings to search.
    pub model: &'a str,
    /// Query vector, normalized to length 1.
    pub vector: &'a [f32],
    /// Which messages may be results. The default allows all.
    pub filter: &'a Filter,
    /// Hints on speed and accuracy.
    pub effort: SearchEffort,
    /// Maximum number of results.
    pub limit: usize,
}

/// A search for messages that contain certain words.
#[derive(Debug, Clone, Copy)]
pub struct WordSearch<'a> {
    /// Words to search for. A message matches if it contains any of them; words are compared by stem.
    pub words: &'a [String],
    /// Which messages may be results. The default allows all.
    pub filter: &'a Filter,
    /// Number of best-matching conversations whose messages are searched.
    pub conversations: usize,
    /// Conversations whose messages are searched regardless of rank.
    pub extra_conversations: &'a [ConversationId],
}

/// The result of a keyword search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WordSearchResult {
    /// The conversations whose messages were searched, each with the BM25 score of the whole conversation.
    pub conversations: Vec<(ConversationId, f64)>,
    /// For each word, in the order of the search, the messages that contain it, with their BM25 scores.
    pub words: Vec<Vec<Match>>,
}

/// A message that matches a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Id of the message.
    pub message_id: MessageId,
    /// Conversation of the message.
    pub conversation_id: ConversationId,
    /// Score of the match; higher is better.
    pub score: f64,
}

/// A summary that matches a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SummaryMatch {
    /// Exchange or conversation that the summary describes.
    pub subject: Subject,
    /// Conversation of the subject.
    pub conversation_id: ConversationId,
    /// Score of the match; higher is better.
    pub score: f64,
}

/// A message's position and properties, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageOutline {
    /// Id of the message.
    pub id: MessageId,
    /// Exchange of the message.
    pub exchange_id: ExchangeId,
    /// Conversation of the message.
    pub conversation_id: ConversationId,
    /// Role of the sender.
    pub role: Role,
    /// Name of the sender, in conversations between people.
    pub author: Option<String>,
    /// When the message was sent.
    pub created: Timestamp,
    /// Number of words. Recall ranks longer messages higher.
    pub words: u32,
    /// Whether the message asks a question.
    pub is_question: bool,
}

/// Subtracted from the similarity of a part of a message after the first. A long message has many parts, one of which is
/// often similar to a question by chance, and most messages say early what they are about.
pub const LATER_PART_DISCOUNT: f64 = 0.2;

/// A part of a message, and its embedding.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagePart {
    /// Message that it is a part of.
    pub message_id: MessageId,
    /// Byte range in the message's text.
    pub range: Range<usize>,
    /// Score of the message, as in a search: the best of all parts, of which the later ones are
    /// [discounted](LATER_PART_DISCOUNT).
    pub score: f64,
    /// The embedding.
    pub vector: Vec<f32>,
}

/// The prompt and answer of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeText {
    /// Id of the exchange.
    pub id: ExchangeId,
    /// The prompt as one text, including attached files.
    pub user: String,
    /// The answer, or empty if it quotes memory.
    pub assistant: String,
}

/// Searches and reads messages for recall. Covers only messages that are
/// [shown](memoir_core::Visibility::Shown) and [original](memoir_core::Provenance::Original).
#[async_trait]
pub trait Memory: Send + Sync {
    /// Returns the messages whose embeddings are nearest by cosine similarity, best first. A long message is scored by
    /// its best part, and later parts are [discounted](LATER_PART_DISCOUNT), as in all searches for messages.
    async fn nearest(&self, search: &VectorSearch<'_>) -> Result<Vec<Match>>;

    /// Returns the exchanges and conversations whose summaries are nearest by cosine similarity, best first. Time
    /// filters compare with a conversation's last exchange.
    async fn nearest_summaries(&self, search: &VectorSearch<'_>) -> Result<Vec<SummaryMatch>>;

    /// Returns the cosine similarity to `vector` of each message in these conversations that has an embedding. The
    /// values may be estimates.
    async fn similarities(
        &self,
        model: &str,
        vector: &[f32],
        conversations: &[ConversationId],
    ) -> Result<Vec<Match>>;

    /// Returns the part of each of `messages` whose embedding is nearest to `vector`. Messages without an embedding are
    /// skipped.
    async fn nearest_parts(
        &self,
        model: &str,
        vector: &[f32],
        messages: &[MessageId],
    ) -> Result<Vec<MessagePart>>;

    /// Returns the conversations and messages that contain any of the words.
    async fn search_words(&self, search: &WordSearch<'_>) -> Result<WordSearchResult>;

    /// Returns the messages of these conversations without their texts, grouped by conversation and in order.
    async fn outlines(&self, conversations: &[ConversationId]) -> Result<Vec<MessageOutline>>;

    /// Returns the messages that were sent in a period, without their texts, oldest first. `end` is exclusive.
    async fn outlines_between(&self, start: Timestamp, end: Timestamp) -> Result<Vec<MessageOutline>>;

    /// Returns the number of messages that have an embedding from this model.
    async fn embedded_count(&self, model: &str) -> Result<u64>;

    /// Returns those of `exchanges` that were committed before `before`, as for [`Filter::before`].
    async fn committed_before(&self, exchanges: &[ExchangeId], before: ExchangeId)
    -> Result<Vec<ExchangeId>>;

    /// Returns the prompts and answers of these exchanges.
    async fn exchange_texts(&self, exchanges: &[ExchangeId]) -> Result<Vec<ExchangeText>>;

    /// Returns the texts of these messages.
    async fn texts(&self, messages: &[MessageId]) -> Result<Vec<(MessageId, String)>>;

    /// Returns, for each of these lowercase words, whether it occurs in messages at least twice.
    async fn familiar_words(&self, words: &[String]) -> Result<Vec<bool>>;

    /// Returns the distinct author names of all messages that have one.
    async fn authors(&self) -> Result<Vec<String>>;
}
