//! What recall asks: which words, which vectors, and where a message stands in its talk.
//!
//! Every store answers these questions in its own way: SQLite from FTS5 and an index in memory, a server from its own
//! full text and vectors.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, MessageId, Role, Subject, Timestamp};

use crate::Result;

/// Which messages may be found. It is part of a search: what it refuses takes no one's place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Nothing of this conversation.
    pub except: Option<ConversationId>,
    /// Only of this one.
    pub within: Option<ConversationId>,
    /// Only of conversations of this project.
    pub scope: Option<String>,
    /// Nothing from before.
    pub since: Option<Timestamp>,
    /// Nothing from this moment on.
    pub until: Option<Timestamp>,
    /// Only exchanges that were committed before this one.
    pub before: Option<ExchangeId>,
}

/// How exact a search for the nearest vectors should be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Accuracy {
    /// Exact as long as that is fast, approximate in a very large memory.
    #[default]
    Auto,
    /// As exact as the store can be.
    Exact,
    /// Approximate, if the store has an approximate index.
    Approximate,
}

/// How much work a store should put into a vector search. These are hints: a store without an index to tune ignores
/// them, and they never change which rows a filter allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchEffort {
    /// How exact the result should be.
    pub accuracy: Accuracy,
    /// How many candidates to compare exactly for each result that is wanted, where results are estimated first.
    pub candidates: usize,
}

impl Default for SearchEffort {
    fn default() -> Self {
        Self { accuracy: Accuracy::Auto, candidates: 4 }
    }
}

/// A search for the nearest vectors.
#[derive(Debug, Clone, Copy)]
pub struct VectorSearch<'a> {
    /// Whose vectors.
    pub model: &'a str,
    /// What they should be near to: a vector of length one.
    pub vector: &'a [f32],
    /// What may be found.
    pub filter: &'a Filter,
    /// How much work to put into it.
    pub effort: SearchEffort,
    /// How many are wanted.
    pub limit: usize,
}

/// A search for words.
#[derive(Debug, Clone, Copy)]
pub struct WordSearch<'a> {
    /// The words. Any of them will do; each is looked for by its stem.
    pub words: &'a [String],
    /// What may be found.
    pub filter: &'a Filter,
    /// How many conversations are looked at closely, those that match best.
    pub conversations: usize,
    /// Conversations that are looked at in any case.
    pub also: &'a [ConversationId],
}

/// What a search for words found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WordsFound {
    /// The conversations that were looked at closely, each with how well it matches as a whole, by BM25.
    pub conversations: Vec<(ConversationId, f64)>,
    /// For each word, in order, the messages of these conversations that have it, by BM25.
    pub words: Vec<Vec<Match>>,
}

/// A message and how well it matches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// The message.
    pub message_id: MessageId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// Higher is better.
    pub score: f64,
}

/// A summary and how well it matches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SummaryMatch {
    /// The exchange or the conversation.
    pub subject: Subject,
    /// The conversation.
    pub conversation_id: ConversationId,
    /// Higher is better.
    pub score: f64,
}

/// A message without its text: where it stands, and what kind of thing it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageOutline {
    /// The message.
    pub id: MessageId,
    /// Its exchange.
    pub exchange_id: ExchangeId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// Who said it.
    pub role: Role,
    /// By name, where the talk was between people.
    pub author: Option<String>,
    /// When.
    pub created: Timestamp,
    /// How many words it has.
    pub words: u32,
    /// Whether it asks something.
    pub asks: bool,
}

/// What was asked and what was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeText {
    /// The exchange.
    pub id: ExchangeId,
    /// What was asked.
    pub user: String,
    /// What was answered.
    pub assistant: String,
}

/// Reading what recall works on. Only shown, said messages take part.
#[async_trait]
pub trait Memory: Send + Sync {
    /// The messages whose vectors are nearest, by cosine, best first.
    async fn nearest(&self, search: &VectorSearch<'_>) -> Result<Vec<Match>>;

    /// The exchanges and conversations whose summaries are nearest, by cosine, best first. A conversation stands at the
    /// time of its last exchange.
    async fn nearest_summaries(&self, search: &VectorSearch<'_>) -> Result<Vec<SummaryMatch>>;

    /// Returns how similar the messages of some conversations are to `vector`, by cosine. The values may be estimates.
    /// Messages without a vector are left out.
    async fn similarities(
        &self,
        model: &str,
        vector: &[f32],
        conversations: &[ConversationId],
    ) -> Result<Vec<Match>>;

    /// The vectors of some messages. Those without one are left out.
    async fn vectors(&self, model: &str, messages: &[MessageId]) -> Result<Vec<(MessageId, Vec<f32>)>>;

    /// The conversations that have any of some words, and the messages in them that do.
    async fn search_words(&self, search: &WordSearch<'_>) -> Result<WordsFound>;

    /// Returns the messages of these conversations without their texts, those of one conversation together and in order.
    async fn outlines(&self, conversations: &[ConversationId]) -> Result<Vec<MessageOutline>>;

    /// Returns those of `exchanges` that were committed before `before`, as [`Filter::before`] means it.
    async fn committed_before(&self, exchanges: &[ExchangeId], before: ExchangeId)
    -> Result<Vec<ExchangeId>>;

    /// What was asked and what was answered in some exchanges.
    async fn exchange_texts(&self, exchanges: &[ExchangeId]) -> Result<Vec<ExchangeText>>;

    /// The texts of messages.
    async fn texts(&self, messages: &[MessageId]) -> Result<Vec<(MessageId, String)>>;

    /// Which of some words, in lower case, have been said at least twice.
    async fn familiar_words(&self, words: &[String]) -> Result<Vec<bool>>;

    /// The names of all who have spoken under one.
    async fn authors(&self) -> Result<Vec<String>>;
}
