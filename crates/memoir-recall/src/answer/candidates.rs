//! Collecting the parts of memory that may answer a question.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use memoir_core::{
    ConversationId, CoreEntry, Document, ExchangeId, MessageId, Role, Source, Timestamp, content_words,
};
use memoir_models::ReaderText;
use memoir_store::MessageOutline;

use super::{
    intent,
    units::{self, Unit},
};
use crate::{Inquiry, Recall, RecallError, excerpt::is_form_of};

/// Number of exchanges and of document chunks that are read for an answer.
const MAX_EXCHANGES: usize = 10;
const MAX_CHUNKS: usize = 4;

/// Number of sentences that are read of one exchange or section. Of a longer one, those near the question's words are.
const MAX_SENTENCES: usize = 16;

/// Weight of a sentence in the nearest part of a long message, compared with one that contains all words of the
/// question.
const NEAR_WEIGHT: f64 = 0.1;

/// Length of the title of a section, in characters.
const SECTION_CHARS: usize = 40;

/// A sentence that may answer a question.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) unit: Unit,
    pub(crate) source: Source,
    /// When it was written. Documents count as written on their date, core memory as the present.
    pub(crate) created: Timestamp,
    /// Who said it.
    speaker: String,
    /// Weighted fraction of the question's words in the sentence.
    pub(crate) coverage: f64,
    /// Whether it is in the part of a long message that is nearest to the question.
    is_near: bool,
    /// Whether it contains other words than the question.
    pub(crate) says_more: bool,
    /// Whether it may be an earlier search of memory: a few words to which nobody replied.
    pub(crate) may_be_search: bool,
    /// Whether a newer message corrected it, or the user marked it as wrong.
    pub(crate) superseded: bool,
}

/// Sentences that follow each other: an exchange, a section of a document or a block of core memory.
#[derive(Debug, Clone)]
pub(crate) struct MemoryText {
    pub(crate) title: String,
    /// What precedes the sentences.
    pub(crate) before: String,
    pub(crate) sentences: Vec<Candidate>,
}

impl MemoryText {
    /// Returns the sentences as a reader reads them.
    pub(crate) fn to_reader_text(&self) -> ReaderText {
        let sentence = |candidate: &Candidate| format!("{}: {}", candidate.speaker, candidate.unit.meaning);
        ReaderText {
            title: self.title.clone(),
            before: self.before.clone(),
            sentences: self.sentences.iter().map(sentence).collect(),
        }
    }

    /// Keeps the sentences around those that contain the question's words, or in the nearest part of a long message, if
    /// there are too many.
    fn shorten(&mut self) {
        if self.sentences.len() <= MAX_SENTENCES {
            return;
        }
        let weight =
            |candidate: &Candidate| candidate.coverage + if candidate.is_near { NEAR_WEIGHT } else { 0.0 };
        let weigh = |run: &[Candidate]| run.iter().map(weight).sum::<f64>();
        let runs = self.sentences.windows(MAX_SENTENCES).map(weigh).enumerate();
        let best = runs.rev().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(start, _)| start);
        if let Some(last) = best.checked_sub(1).and_then(|index| self.sentences.get(index)) {
            self.before = last.unit.meaning.clone();
        }
        self.sentences = self.sentences.drain(best..best + MAX_SENTENCES).collect();
    }
}

impl Recall {
    /// Returns the best messages, documents and core memory.
    pub(super) async fn gather_texts(
        &self,
        inquiry: &Inquiry,
        core_memory: &[CoreEntry],
    ) -> Result<Vec<MemoryText>, RecallError> {
        let words = QuestionWords::new(inquiry);
        let mut texts = self.message_texts(inquiry, &words).await?;
        texts.extend(self.document_texts(inquiry, &words).await?);
        texts.extend(core_memory.iter().map(|entry| {
            let new = |unit| Candidate::new(unit, Source::CoreMemory(entry.block), self.clock.now(), &words);
            let sentences = units::split(&entry.text).into_iter().map(new).collect();
            MemoryText { title: String::new(), before: String::new(), sentences }
        }));
        texts.iter_mut().for_each(MemoryText::shorten);
        Ok(texts)
    }

    async fn message_texts(
        &self,
        inquiry: &Inquiry,
        words: &QuestionWords,
    ) -> Result<Vec<MemoryText>, RecallError> {
        let mut seen = HashSet::new();
        let exchanges: Vec<Exchange<'_>> = inquiry
            .ranked
            .iter()
            .map(|message| message.outline.exchange_id)
            .filter(|exchange| seen.insert(*exchange))
            .take(MAX_EXCHANGES)
            .map(|exchange| Exchange::find(inquiry, exchange))
            .collect();
        let outlines = exchanges.iter().flat_map(|exchange| exchange.messages.iter().chain(&exchange.before));
        let (ids, conversations): (Vec<MessageId>, Vec<ConversationId>) =
            outlines.map(|outline| (outline.id, outline.conversation_id)).unzip();
        let known = KnownMessages {
            contents: self.store.texts(&ids).await?.into_iter().collect(),
            titles: self
                .store
                .conversations_by_id(&conversations)
                .await?
                .into_iter()
                .map(|conversation| (conversation.id, conversation.title))
                .collect(),
            superseded: inquiry
                .ranked
                .iter()
                .filter(|message| message.superseded.is_some())
                .map(|message| message.outline.id)
                .collect(),
            parts: &inquiry.parts,
        };
        Ok(exchanges.iter().filter_map(|exchange| exchange.to_text(&known, words)).collect())
    }

    async fn document_texts(
        &self,
        inquiry: &Inquiry,
        words: &QuestionWords,
    ) -> Result<Vec<MemoryText>, RecallError> {
        let passages = &inquiry.document_candidates[..inquiry.document_candidates.len().min(MAX_CHUNKS)];
        let ids: Vec<_> = passages.iter().map(|passage| passage.chunk_id).collect();
        let chunks = self.store.chunks(&ids).await?;
        let mut texts = Vec::new();
        for passage in passages {
            let Some(chunk) = chunks.iter().find(|chunk| chunk.id == passage.chunk_id) else { continue };
            let units = units::split(&chunk.text);
            texts.extend(
                units
                    .chunk_by(|a, b| a.headings == b.headings)
                    .map(|section| section_text(&passage.document, section, words)),
            );
        }
        Ok(texts)
    }
}

/// The messages of an exchange, and the message before them.
struct Exchange<'a> {
    messages: Vec<&'a MessageOutline>,
    before: Option<&'a MessageOutline>,
}

/// What the store knows about messages.
struct KnownMessages<'a> {
    contents: HashMap<MessageId, String>,
    titles: HashMap<ConversationId, String>,
    superseded: HashSet<MessageId>,
    /// The nearest part of each message.
    parts: &'a HashMap<MessageId, Range<usize>>,
}

impl<'a> Exchange<'a> {
    fn find(inquiry: &'a Inquiry, id: ExchangeId) -> Self {
        let messages: Vec<_> = inquiry.outlines.iter().filter(|outline| outline.exchange_id == id).collect();
        let before = messages.first().and_then(|first| {
            let is_before = |outline: &&MessageOutline| {
                outline.conversation_id == first.conversation_id && outline.created < first.created
            };
            inquiry.outlines.iter().filter(is_before).max_by_key(|outline| outline.created)
        });
        Self { messages, before }
    }

    fn to_text(&self, known: &KnownMessages<'_>, words: &QuestionWords) -> Option<MemoryText> {
        let title = known.titles.get(&self.messages.first()?.conversation_id)?;
        let before = self.before.and_then(|before| known.contents.get(&before.id));
        let has_reply = self.messages.iter().any(|message| message.role == Role::Assistant);
        let mut sentences = Vec::new();
        for message in &self.messages {
            let Some(content) = known.contents.get(&message.id) else { continue };
            let source = message_source(message, title);
            let part = known.parts.get(&message.id).and_then(|range| content.get(range.clone()));
            let is_near = |unit: &Unit| part.is_some_and(|part| part.contains(&unit.text));
            sentences.extend(units::split(content).into_iter().map(|unit| Candidate {
                is_near: is_near(&unit),
                speaker: speaker(message).to_owned(),
                may_be_search: !has_reply && intent::may_be_search(content),
                superseded: known.superseded.contains(&message.id),
                ..Candidate::new(unit, source.clone(), message.created, words)
            }));
        }
        let before = before.map(|text| text.replace('\n', " ")).unwrap_or_default();
        Some(MemoryText { title: title.clone(), before, sentences })
    }
}

/// Returns the sentences of a document below the same heading.
fn section_text(document: &Document, units: &[Unit], words: &QuestionWords) -> MemoryText {
    let headings = units.first().map(|unit| unit.headings.clone()).unwrap_or_default();
    let path = [std::slice::from_ref(&document.title), &headings].concat().join(" / ");
    let created = midnight(&document.date).unwrap_or(Timestamp::from_millis(0));
    let source = Source::Document {
        slug: document.slug.clone(),
        title: document.title.clone(),
        date: document.date.clone(),
        headings,
    };
    let sentence = |unit: &Unit| Candidate {
        speaker: "document".to_owned(),
        ..Candidate::new(unit.clone(), source.clone(), created, words)
    };
    MemoryText {
        // The innermost heading says most.
        title: path.chars().skip(path.chars().count().saturating_sub(SECTION_CHARS)).collect(),
        before: String::new(),
        sentences: units.iter().map(sentence).collect(),
    }
}

impl Candidate {
    /// Returns a sentence by the user.
    fn new(unit: Unit, source: Source, created: Timestamp, words: &QuestionWords) -> Self {
        Self {
            coverage: words.weigh(&unit.meaning),
            says_more: words.are_exceeded_by(&unit.meaning),
            unit,
            source,
            created,
            speaker: "user".to_owned(),
            is_near: false,
            may_be_search: false,
            superseded: false,
        }
    }

    /// Returns a sentence that shares no word with the question.
    #[cfg(test)]
    pub(crate) fn for_test(unit: Unit, source: Source, created: Timestamp) -> Self {
        Self::new(unit, source, created, &QuestionWords { words: Vec::new() })
    }
}

/// Returns midnight of a date such as `2026-04-11`, in UTC.
fn midnight(date: &str) -> Option<Timestamp> {
    let date: jiff::civil::Date = date.parse().ok()?;
    let midnight = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp::from_millis(midnight.timestamp().as_millisecond()))
}

/// Returns the speaker of a message in the reader's words.
fn speaker(outline: &MessageOutline) -> &str {
    match (&outline.author, outline.role) {
        (Some(author), _) => author,
        (None, Role::User) => "user",
        (None, Role::Assistant | Role::Tool) => "assistant",
    }
}

fn message_source(outline: &MessageOutline, title: &str) -> Source {
    let speaker = match speaker(outline) {
        "user" => "you",
        speaker => speaker,
    };
    Source::Message {
        conversation: outline.conversation_id,
        exchange: outline.exchange_id,
        title: title.to_owned(),
        speaker: speaker.to_owned(),
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

    /// Returns the weighted fraction of the words that a text contains.
    fn weigh(&self, text: &str) -> f64 {
        let text = content_words(text);
        let is_in = |word: &str| text.iter().any(|other| is_same(other, word));
        let total: f64 = self.words.iter().map(|(_, weight)| weight).sum();
        let found = self.words.iter().filter(|(word, _)| is_in(word)).map(|(_, weight)| weight);
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
