//! The state of a recall request as it passes through the stages.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use memoir_core::{
    ConversationId, Correction, DocumentPassage, ExchangeId, MessageId, Passage, RelatedConversation,
    TimeZone,
};
use memoir_store::{Filter, Match, MessageOutline, SummaryMatch};

use crate::ParsedQuestion;

/// The kind of a query, which determines the relevance thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryKind {
    /// A prompt. The user did not ask for results, so they must be clearly relevant.
    Prompt,
    /// A search. The user asked for results, so they may be less relevant.
    Search,
}

/// A message with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedMessage {
    /// Message without its text.
    pub outline: MessageOutline,
    /// Score; higher is better. Comparable only within one query.
    pub score: f64,
    /// Cosine similarity to the question's embedding.
    pub similarity: f64,
    /// Weighted fraction (0 to 1) of the question's words found in the message or next to it.
    pub coverage: f64,
    /// The correction of this message, if one was detected or the user marked the exchange as wrong.
    pub superseded: Option<Correction>,
}

/// A query and the results found so far. Each stage reads the results of earlier stages and adds its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Inquiry {
    /// Text of the query.
    pub text: String,
    /// Whether it is a prompt or a search.
    pub kind: QueryKind,
    /// Restriction on the messages that may be returned.
    pub filter: Filter,
    /// Current project, copied from [`Recall::scope`](crate::Recall::scope).
    pub scope: Option<String>,
    /// Time zone for dates.
    pub zone: TimeZone,
    /// Words, names and dates in `text`. Filled by the `read_question` stage.
    pub question: ParsedQuestion,
    /// Embedding of the query.
    pub vector: Option<Vec<f32>>,
    /// Messages nearest to the query by embedding.
    pub nearest: Vec<Match>,
    /// Exchanges and conversations whose summaries are nearest to the query.
    pub summaries: Vec<SummaryMatch>,
    /// Candidate conversations, each with its lexical score as a whole.
    pub conversations: Vec<(ConversationId, f64)>,
    /// For each word of the question, the messages that contain it.
    pub word_matches: Vec<Vec<Match>>,
    /// All messages of the candidate conversations, in order.
    pub outlines: Vec<MessageOutline>,
    /// Exchanges of these messages that were committed before [`Filter::before`], if the filter sets it.
    pub early_exchanges: Option<HashSet<ExchangeId>>,
    /// Cosine similarity of each of these messages.
    pub similarities: Vec<f64>,
    /// Cosine similarity of each message combined with the previous one, which it often answers.
    pub pair_similarities: Vec<f64>,
    /// Lexical score of each message, including discounted matches in its neighbors.
    pub lexical_scores: Vec<f64>,
    /// Messages by score, best first.
    pub ranked: Vec<RankedMessage>,
    /// Embeddings of the best messages, or of the parts of them that are nearest.
    pub vectors: HashMap<MessageId, Vec<f32>>,
    /// Byte ranges of the parts that these embeddings describe.
    pub parts: HashMap<MessageId, Range<usize>>,
    /// Texts of the best messages.
    pub texts: HashMap<MessageId, String>,
    /// Passages from documents, best first, before it is decided which are relevant.
    pub document_candidates: Vec<DocumentPassage>,
    /// Passages selected from documents.
    pub documents: Vec<DocumentPassage>,
    /// Passages selected from conversations.
    pub passages: Vec<Passage>,
    /// Conversations the passages come from.
    pub related: Vec<RelatedConversation>,
    /// Problems to report to the user.
    pub notices: Vec<String>,
}

impl Inquiry {
    /// Returns the part of the text that is compared by meaning.
    pub(crate) fn text_to_embed(&self) -> String {
        match self.question.meaning.as_str() {
            "" => self.text.clone(),
            meaning => meaning.to_owned(),
        }
    }

    /// Returns whether there is nothing to search for: a prompt that only greets or thanks, or a search without words.
    pub(crate) fn asks_nothing(&self) -> bool {
        match self.kind {
            QueryKind::Prompt => self.question.is_idle,
            QueryKind::Search => self.question.words.is_empty(),
        }
    }

    /// Returns the position of the previous message in the same conversation.
    pub(crate) fn previous(&self, position: usize) -> Option<usize> {
        let previous = position.checked_sub(1)?;
        let is_same = self.outlines[previous].conversation_id == self.outlines[position].conversation_id;
        is_same.then_some(previous)
    }

    /// Creates an inquiry without results.
    pub fn new(text: &str, kind: QueryKind, filter: Filter) -> Self {
        Self {
            text: text.to_owned(),
            kind,
            filter,
            scope: None,
            zone: TimeZone::UTC,
            question: ParsedQuestion::default(),
            vector: None,
            nearest: Vec::new(),
            summaries: Vec::new(),
            conversations: Vec::new(),
            word_matches: Vec::new(),
            outlines: Vec::new(),
            early_exchanges: None,
            similarities: Vec::new(),
            pair_similarities: Vec::new(),
            lexical_scores: Vec::new(),
            ranked: Vec::new(),
            vectors: HashMap::new(),
            parts: HashMap::new(),
            texts: HashMap::new(),
            document_candidates: Vec::new(),
            documents: Vec::new(),
            passages: Vec::new(),
            related: Vec::new(),
            notices: Vec::new(),
        }
    }
}
