//! Collecting the sentences that may answer a question.

use std::collections::{HashMap, HashSet};

use memoir_core::{
    ConversationId, CoreEntry, ExchangeId, MessageId, Purpose, Role, Source, Timestamp, content_words,
};
use memoir_models::EmbedTask;
use memoir_store::MessageOutline;

use super::{
    intent,
    units::{self, Unit},
};
use crate::{Inquiry, Recall, RecallError, excerpt::is_form_of, stages::refine::cosine};

/// Number of exchanges and of document chunks that are read for an answer.
const MAX_EXCHANGES: usize = 10;
const MAX_CHUNKS: usize = 4;

/// Number of sentences of a message that are considered.
const MAX_UNITS: usize = 500;

/// Number of sentences that are compared with the question by meaning, which takes about a millisecond each.
const MAX_EMBEDDED: usize = 64;

/// A sentence that may answer a question.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) unit: Unit,
    pub(crate) source: Source,
    /// When it was written. Documents count as written on their date, core memory as the present.
    pub(crate) created: Timestamp,
    /// Cosine similarity to the question.
    pub(crate) similarity: f64,
    /// Weighted fraction of the question's words in the sentence.
    pub(crate) coverage: f64,
    /// Weighted fraction of the question's words in the sentence or its context: the rest of its message, the message
    /// that it answers and the title.
    pub(crate) context_coverage: f64,
    /// Rank of its message or document, from 1 for the best to 0.
    pub(crate) rank: f64,
    /// Whether the assistant wrote it.
    pub(crate) by_assistant: bool,
    /// Whether it may be an earlier search of memory: a few words to which nobody replied.
    pub(crate) may_be_search: bool,
    /// Whether a newer message corrected it, or the user marked it as wrong.
    pub(crate) superseded: bool,
    pub(crate) vector: Vec<f32>,
}

impl Candidate {
    /// Returns a sentence of the highest rank whose meaning has not been compared with the question yet. `context`
    /// contains true for each word of the question that is in its context.
    fn new(unit: Unit, source: Source, created: Timestamp, words: &QuestionWords, context: &[bool]) -> Self {
        let own = words.find(&unit.meaning);
        let is_in_context = |index: usize| context.get(index) == Some(&true);
        let both: Vec<bool> =
            own.iter().enumerate().map(|(index, own)| *own || is_in_context(index)).collect();
        Self {
            coverage: words.weigh(&own),
            context_coverage: words.weigh(&both),
            unit,
            source,
            created,
            similarity: 0.0,
            rank: 1.0,
            by_assistant: false,
            may_be_search: false,
            superseded: false,
            vector: Vec::new(),
        }
    }
}

impl Recall {
    /// Reads the best messages, documents and core memory, and compares their sentences with the question.
    pub(super) async fn gather_candidates(
        &self,
        inquiry: &Inquiry,
        core_memory: &[CoreEntry],
    ) -> Result<Vec<Candidate>, RecallError> {
        let weights = QuestionWords::new(inquiry);
        let mut candidates = self.message_candidates(inquiry, &weights).await?;
        candidates.extend(self.document_candidates(inquiry, &weights).await?);
        candidates.extend(core_candidates(core_memory, self.clock.now(), &weights));
        // A search that says no more than the question is no answer, unlike a sentence: "Is the oven fixed?"
        candidates.retain(|candidate| {
            !candidate.unit.is_question
                && (!candidate.may_be_search || weights.are_exceeded_by(&candidate.unit.meaning))
        });
        let promise =
            |candidate: &Candidate| candidate.coverage + 0.5 * candidate.context_coverage + candidate.rank;
        candidates.sort_by(|a, b| promise(b).total_cmp(&promise(a)));
        let mut seen = HashSet::new();
        candidates.retain(|candidate| seen.insert((candidate.unit.text.to_lowercase(), candidate.created)));
        candidates.truncate(MAX_EMBEDDED);
        self.compare(inquiry, &mut candidates).await?;
        Ok(candidates)
    }

    async fn compare(&self, inquiry: &Inquiry, candidates: &mut [Candidate]) -> Result<(), RecallError> {
        let Some(query) = &inquiry.vector else { return Ok(()) };
        let texts: Vec<String> =
            candidates.iter().map(|candidate| self.prepare_to_send(candidate.unit.meaning.clone())).collect();
        if texts.is_empty() {
            return Ok(());
        }
        let embedded = self.embedder.embed(&texts, EmbedTask::Document).await?;
        self.record_cost(Purpose::Query, embedded.usage, None).await?;
        for (candidate, vector) in candidates.iter_mut().zip(embedded.vectors) {
            candidate.similarity = cosine(query, &vector);
            candidate.vector = vector;
        }
        Ok(())
    }

    async fn message_candidates(
        &self,
        inquiry: &Inquiry,
        words: &QuestionWords,
    ) -> Result<Vec<Candidate>, RecallError> {
        let mut exchanges: Vec<ExchangeId> = Vec::new();
        for message in &inquiry.ranked {
            if !exchanges.contains(&message.outline.exchange_id) {
                exchanges.push(message.outline.exchange_id);
            }
            if exchanges.len() == MAX_EXCHANGES {
                break;
            }
        }
        let outlines: Vec<&MessageOutline> =
            inquiry.outlines.iter().filter(|outline| exchanges.contains(&outline.exchange_id)).collect();
        let ids: Vec<MessageId> = outlines.iter().map(|outline| outline.id).collect();
        let texts: HashMap<MessageId, String> = self.store.texts(&ids).await?.into_iter().collect();
        let conversations: Vec<ConversationId> =
            outlines.iter().map(|outline| outline.conversation_id).collect();
        let titles: HashMap<ConversationId, String> = self
            .store
            .conversations_by_id(&conversations)
            .await?
            .into_iter()
            .map(|conversation| (conversation.id, conversation.title))
            .collect();
        let superseded: HashSet<MessageId> = inquiry
            .ranked
            .iter()
            .filter(|message| message.superseded.is_some())
            .map(|message| message.outline.id)
            .collect();
        let mut candidates = Vec::new();
        for outline in &outlines {
            let (Some(text), Some(title)) = (texts.get(&outline.id), titles.get(&outline.conversation_id))
            else {
                continue;
            };
            let place = exchanges.iter().position(|id| *id == outline.exchange_id).unwrap_or(0);
            let same_exchange = || outlines.iter().filter(|other| other.exchange_id == outline.exchange_id);
            let prompt =
                same_exchange().find(|other| other.id < outline.id).and_then(|other| texts.get(&other.id));
            let context = words.find(&format!("{title} {} {text}", prompt.map_or("", String::as_str)));
            let has_reply = same_exchange().any(|other| other.role == Role::Assistant);
            let source = message_source(outline, title);
            candidates.extend(units::split(text).into_iter().take(MAX_UNITS).map(|unit| Candidate {
                rank: 1.0 - place as f64 / MAX_EXCHANGES as f64,
                by_assistant: outline.role == Role::Assistant && outline.author.is_none(),
                may_be_search: !has_reply && intent::may_be_search(text),
                superseded: superseded.contains(&outline.id),
                ..Candidate::new(unit, source.clone(), outline.created, words, &context)
            }));
        }
        Ok(candidates)
    }

    async fn document_candidates(
        &self,
        inquiry: &Inquiry,
        words: &QuestionWords,
    ) -> Result<Vec<Candidate>, RecallError> {
        let passages = &inquiry.document_candidates[..inquiry.document_candidates.len().min(MAX_CHUNKS)];
        let ids: Vec<_> = passages.iter().map(|passage| passage.chunk_id).collect();
        let chunks = self.store.chunks(&ids).await?;
        let mut candidates = Vec::new();
        for (place, passage) in passages.iter().enumerate() {
            let Some(chunk) = chunks.iter().find(|chunk| chunk.id == passage.chunk_id) else { continue };
            let document = &passage.document;
            let created = midnight(&document.date).unwrap_or(Timestamp::from_millis(0));
            candidates.extend(units::split(&chunk.text).into_iter().map(|unit| {
                let headings = unit.headings.clone();
                let context = words.find(&format!("{} {}", document.title, headings.join(" ")));
                let source = Source::Document {
                    slug: document.slug.clone(),
                    title: document.title.clone(),
                    date: document.date.clone(),
                    headings,
                };
                let rank = 1.0 - place as f64 / MAX_CHUNKS as f64;
                Candidate { rank, ..Candidate::new(unit, source, created, words, &context) }
            }));
        }
        Ok(candidates)
    }
}

/// Returns midnight of a date such as `2026-04-11`, in UTC.
fn midnight(date: &str) -> Option<Timestamp> {
    let date: jiff::civil::Date = date.parse().ok()?;
    let midnight = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp::from_millis(midnight.timestamp().as_millisecond()))
}

fn core_candidates(entries: &[CoreEntry], now: Timestamp, words: &QuestionWords) -> Vec<Candidate> {
    let of_entry = |entry: &CoreEntry| {
        let source = Source::CoreMemory(entry.block);
        let new = |unit| Candidate::new(unit, source.clone(), now, words, &[]);
        units::split(&entry.text).into_iter().map(new).collect::<Vec<_>>()
    };
    entries.iter().flat_map(of_entry).collect()
}

fn message_source(outline: &MessageOutline, title: &str) -> Source {
    let speaker = match (&outline.author, outline.role) {
        (Some(author), _) => author.clone(),
        (None, Role::User) => "you".to_owned(),
        (None, Role::Assistant | Role::Tool) => "assistant".to_owned(),
    };
    Source::Message {
        conversation: outline.conversation_id,
        exchange: outline.exchange_id,
        title: title.to_owned(),
        speaker,
        created: outline.created,
    }
}

/// The words of a question with their weights. Rare words weigh more, and words that memory does not contain as much as
/// the rarest.
struct QuestionWords {
    words: Vec<(String, f64)>,
}

impl QuestionWords {
    fn new(inquiry: &Inquiry) -> Self {
        let total = inquiry.outlines.len().max(1000) as f64;
        let weigh = |count: usize| (1.0 + total / (count as f64 + 1.0)).ln();
        let words = inquiry.question.words.iter().enumerate().map(|(index, word)| {
            let count = inquiry.word_matches.get(index).map_or(0, Vec::len);
            (word.clone(), weigh(count))
        });
        Self { words: words.collect() }
    }

    /// Returns for each word whether it is in a text.
    fn find(&self, text: &str) -> Vec<bool> {
        let text = content_words(text);
        let is_in = |word: &str| text.iter().any(|other| is_same(other, word));
        self.words.iter().map(|(word, _)| is_in(word)).collect()
    }

    /// Returns the weighted fraction of the words that were found.
    fn weigh(&self, found: &[bool]) -> f64 {
        let total: f64 = self.words.iter().map(|(_, weight)| weight).sum();
        let found = self.words.iter().zip(found).filter(|(_, found)| **found).map(|((_, weight), _)| weight);
        if total > 0.0 { found.sum::<f64>() / total } else { 0.0 }
    }

    /// Returns whether a text contains other words, too.
    fn are_exceeded_by(&self, text: &str) -> bool {
        content_words(text).iter().any(|word| !self.words.iter().any(|(other, _)| is_same(word, other)))
    }
}

/// Returns whether two words are the same, apart from their endings.
fn is_same(word: &str, other: &str) -> bool {
    word == other || is_form_of(word, other)
}
