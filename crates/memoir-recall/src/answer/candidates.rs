//! Collecting the sentences that may answer a question.

use std::collections::{HashMap, HashSet};

use memoir_core::{
    ConversationId, CoreEntry, ExchangeId, MessageId, Purpose, Role, Source, Timestamp, content_words,
};
use memoir_models::EmbedTask;
use memoir_store::MessageOutline;

use super::units::{self, Unit};
use crate::{Inquiry, Recall, RecallError, excerpt::is_form_of, stages::refine::cosine};

/// Number of exchanges and of document chunks that are read for an answer.
const MAX_EXCHANGES: usize = 10;
const MAX_CHUNKS: usize = 4;

/// Number of sentences that are compared with the question by meaning, which takes about a millisecond each.
const MAX_EMBEDDED: usize = 64;

/// A sentence that may answer a question.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) unit: Unit,
    pub(crate) source: Source,
    /// When it was written. Documents count as written on their date, core memory as the present.
    pub(crate) created: Timestamp,
    /// Text around the sentence, which gives its words a context: the rest of its message and what it answers.
    pub(crate) context: String,
    /// Cosine similarity to the question.
    pub(crate) similarity: f64,
    /// Weighted fraction of the question's words in the sentence.
    pub(crate) coverage: f64,
    /// Weighted fraction of the question's words in the sentence or its context.
    pub(crate) context_coverage: f64,
    /// Rank of its message or document, from 1 for the best to 0.
    pub(crate) rank: f64,
    /// Whether the assistant wrote it.
    pub(crate) by_assistant: bool,
    /// Whether a newer message corrected it, or the user marked it as wrong.
    pub(crate) superseded: bool,
    pub(crate) vector: Vec<f32>,
}

impl Candidate {
    /// Returns a sentence of the highest rank that has not been compared with the question yet.
    fn new(unit: Unit, source: Source, created: Timestamp) -> Self {
        Self {
            unit,
            source,
            created,
            context: String::new(),
            similarity: 0.0,
            coverage: 0.0,
            context_coverage: 0.0,
            rank: 1.0,
            by_assistant: false,
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
        let mut candidates = self.message_candidates(inquiry).await?;
        candidates.extend(self.document_candidates(inquiry).await?);
        candidates.extend(core_candidates(core_memory, self.clock.now()));
        let weights = WordWeights::new(inquiry);
        for candidate in &mut candidates {
            candidate.coverage = weights.coverage(&candidate.unit.meaning);
            let context = format!("{} {}", candidate.unit.meaning, candidate.context);
            candidate.context_coverage = weights.coverage(&context);
        }
        candidates.retain(|candidate| !candidate.unit.is_question);
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

    async fn message_candidates(&self, inquiry: &Inquiry) -> Result<Vec<Candidate>, RecallError> {
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
        for outline in outlines {
            let (Some(text), Some(title)) = (texts.get(&outline.id), titles.get(&outline.conversation_id))
            else {
                continue;
            };
            let place = exchanges.iter().position(|id| *id == outline.exchange_id).unwrap_or(0);
            let by_assistant = outline.role == Role::Assistant && outline.author.is_none();
            let speaker = match (&outline.author, outline.role) {
                (Some(author), _) => author.clone(),
                (None, Role::User) => "you".to_owned(),
                (None, Role::Assistant | Role::Tool) => "assistant".to_owned(),
            };
            let source = Source::Message {
                conversation: outline.conversation_id,
                exchange: outline.exchange_id,
                title: title.clone(),
                speaker,
                created: outline.created,
            };
            let prompt = inquiry
                .outlines
                .iter()
                .find(|other| other.exchange_id == outline.exchange_id && other.id < outline.id)
                .and_then(|other| texts.get(&other.id));
            let context = format!("{title} {} {text}", prompt.map_or("", String::as_str));
            candidates.extend(units::split(text).into_iter().map(|unit| Candidate {
                context: context.clone(),
                rank: 1.0 - place as f64 / MAX_EXCHANGES as f64,
                by_assistant,
                superseded: superseded.contains(&outline.id),
                ..Candidate::new(unit, source.clone(), outline.created)
            }));
        }
        Ok(candidates)
    }

    async fn document_candidates(&self, inquiry: &Inquiry) -> Result<Vec<Candidate>, RecallError> {
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
                let context = format!("{} {}", document.title, headings.join(" "));
                let source = Source::Document {
                    slug: document.slug.clone(),
                    title: document.title.clone(),
                    date: document.date.clone(),
                    headings,
                };
                let rank = 1.0 - place as f64 / MAX_CHUNKS as f64;
                Candidate { context, rank, ..Candidate::new(unit, source, created) }
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

fn core_candidates(entries: &[CoreEntry], now: Timestamp) -> Vec<Candidate> {
    let of_entry = |entry: &CoreEntry| {
        let source = Source::CoreMemory(entry.block);
        units::split(&entry.text)
            .into_iter()
            .map(move |unit| Candidate::new(unit, source.clone(), now))
            .collect::<Vec<_>>()
    };
    entries.iter().flat_map(of_entry).collect()
}

/// The words of a question with their weights. Rare words weigh more, and words that memory does not contain as much as
/// the rarest.
struct WordWeights {
    words: Vec<(String, f64)>,
}

impl WordWeights {
    fn new(inquiry: &Inquiry) -> Self {
        let total = inquiry.outlines.len().max(1000) as f64;
        let weigh = |count: usize| (1.0 + total / (count as f64 + 1.0)).ln();
        let words = inquiry.question.words.iter().enumerate().map(|(index, word)| {
            let count = inquiry.word_matches.get(index).map_or(0, Vec::len);
            (word.clone(), weigh(count))
        });
        Self { words: words.collect() }
    }

    /// Returns the weighted fraction of the words found in a text.
    fn coverage(&self, text: &str) -> f64 {
        let text_words = content_words(text);
        let total: f64 = self.words.iter().map(|(_, weight)| weight).sum();
        let found = self.words.iter().filter(|(word, _)| {
            text_words.iter().any(|text_word| text_word == word || is_form_of(text_word, word))
        });
        if total > 0.0 { found.map(|(_, weight)| weight).sum::<f64>() / total } else { 0.0 }
    }
}
