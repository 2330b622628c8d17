//! What is asked of memory, and what the stages have found so far.

use std::collections::{HashMap, HashSet};

use memoir_core::{
    ConversationId, DocumentPassage, ExchangeId, MessageId, Passage, RelatedConversation, TimeZone, Timestamp,
};
use memoir_store::{Filter, Match, MessageOutline, SummaryMatch};

use crate::ParsedQuestion;

/// What kind of query memory gets. The thresholds for relevance depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryKind {
    /// A prompt. Results are added unasked, so they must be clearly relevant.
    Prompt,
    /// A search. Results were asked for, so they may be less relevant.
    Search,
}

/// A message with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedMessage {
    /// The message.
    pub outline: MessageOutline,
    /// How well it matches; higher is better, among the answers to one question.
    pub score: f64,
    /// How near it is in meaning: a cosine.
    pub similarity: f64,
    /// How much of the question's words it has, itself or beside it: 0 to 1.
    pub coverage: f64,
    /// When something newer was said that corrects it.
    pub superseded: Option<Timestamp>,
}

/// An inquiry on its way through the stages. Each reads what those before it found, and adds to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Inquiry {
    /// What is asked.
    pub text: String,
    /// What kind of query it is.
    pub kind: QueryKind,
    /// What may be found.
    pub filter: Filter,
    /// The project that is preferred.
    pub scope: Option<String>,
    /// Where one is, for dates.
    pub zone: TimeZone,
    /// What is asked, taken apart.
    pub question: ParsedQuestion,
    /// Its meaning.
    pub vector: Option<Vec<f32>>,
    /// The messages nearest in meaning.
    pub near: Vec<Match>,
    /// The exchanges and conversations whose summaries are nearest.
    pub summaries: Vec<SummaryMatch>,
    /// The conversations that are looked at closely, with how well each matches as a whole.
    pub conversations: Vec<(ConversationId, f64)>,
    /// For each word of the question, the messages that have it.
    pub words: Vec<Vec<Match>>,
    /// All messages of these conversations, in order.
    pub outlines: Vec<MessageOutline>,
    /// The exchanges of these messages that were committed before [`Filter::before`], if the filter has it.
    pub early_exchanges: Option<HashSet<ExchangeId>>,
    /// How near each of them is in meaning.
    pub similarities: Vec<f64>,
    /// How near each of them is together with the one before it, which it often answers.
    pub similarities_together: Vec<f64>,
    /// How well each of them matches the words, itself or by its neighbours.
    pub lexical: Vec<f64>,
    /// Messages by relevance, best first.
    pub ranked: Vec<RankedMessage>,
    /// The vectors of the best.
    pub vectors: HashMap<MessageId, Vec<f32>>,
    /// The texts of the best.
    pub texts: HashMap<MessageId, String>,
    /// What documents say.
    pub documents: Vec<DocumentPassage>,
    /// What is worth a prompt's room.
    pub passages: Vec<Passage>,
    /// Where it comes from.
    pub related: Vec<RelatedConversation>,
    /// What did not work.
    pub notices: Vec<String>,
}

impl Inquiry {
    /// Whether there is nothing to look for: a prompt that only greets or thanks, or no words at all.
    pub(crate) fn asks_nothing(&self) -> bool {
        match self.kind {
            QueryKind::Prompt => self.question.is_idle,
            QueryKind::Search => self.question.words.is_empty(),
        }
    }

    /// The place of the message before, in the same conversation.
    pub(crate) fn before(&self, position: usize) -> Option<usize> {
        let before = position.checked_sub(1)?;
        let same = self.outlines[before].conversation_id == self.outlines[position].conversation_id;
        same.then_some(before)
    }

    /// An inquiry that has just begun.
    pub fn new(text: &str, kind: QueryKind, filter: Filter) -> Self {
        Self {
            text: text.to_owned(),
            kind,
            filter,
            scope: None,
            zone: TimeZone::UTC,
            question: ParsedQuestion::default(),
            vector: None,
            near: Vec::new(),
            summaries: Vec::new(),
            conversations: Vec::new(),
            words: Vec::new(),
            outlines: Vec::new(),
            early_exchanges: None,
            similarities: Vec::new(),
            similarities_together: Vec::new(),
            lexical: Vec::new(),
            ranked: Vec::new(),
            vectors: HashMap::new(),
            texts: HashMap::new(),
            documents: Vec::new(),
            passages: Vec::new(),
            related: Vec::new(),
            notices: Vec::new(),
        }
    }
}
