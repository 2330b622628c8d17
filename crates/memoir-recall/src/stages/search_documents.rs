//! Looking documents up, by meaning and by words.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use async_trait::async_trait;
use memoir_core::{Chunk, ChunkId, Document, DocumentId, DocumentPassage, Timestamp, telling_words};
use memoir_store::{ChunkMatch, ChunksWithWord, DocumentFilter};

use crate::{
    Inquiry, QueryKind, Recall, RecallError, Stage,
    calibration::Calibration,
    excerpt::{excerpt, is_form_of},
    format,
};

/// How many chunks are looked at closely for their meaning, and how many for their words.
const CLOSELY: usize = 12;

/// How much of a document is quoted.
const LONGEST: usize = 400;

/// Words count as being together when they are within so many bytes.
const TOGETHER: usize = 1000;

/// How much of the question's words a passage must have: for the best, and for the others.
const COVERAGE: (f64, f64) = (0.62, 0.5);

/// The same for whoever searches.
const COVERAGE_SEARCHED: (f64, f64) = (0.4, 0.4);

/// With fewer chunks all words count nearly the same.
const FEW: u64 = 1000;

/// In milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1000;

pub(crate) struct SearchDocumentsStage;

#[async_trait]
impl Stage for SearchDocumentsStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let limit = recall.settings.document_limit;
        // A conversation that is searched for itself has no documents.
        if limit == 0 || inquiry.asks_nothing() || inquiry.filter.within.is_some() {
            return Ok(());
        }
        let words = &inquiry.question.words;
        let filter = filter(inquiry);
        let (with_words, all) = recall.store.chunks_with_words(words, &filter).await?;
        if all == 0 {
            return Ok(());
        }
        let near = match &inquiry.vector {
            Some(vector) => recall.nearest_chunks(vector, &filter, CLOSELY).await?,
            None => Vec::new(),
        };
        let weights = WordWeights::new(words, &with_words, all);
        let mut wanted: Vec<ChunkId> = near.iter().map(|found| found.chunk_id).collect();
        wanted.extend(weights.best(&with_words));
        let mut seen = HashSet::new();
        wanted.retain(|id| seen.insert(*id));
        let chunks = recall.store.chunks(&wanted).await?;
        let ids: Vec<DocumentId> = chunks.iter().map(|chunk| chunk.document_id).collect();
        let documents = recall.store.documents_by_id(&ids).await?;
        let documents: HashMap<DocumentId, Document> =
            documents.into_iter().map(|document| (document.id, document)).collect();
        let near: HashMap<ChunkId, ChunkMatch> =
            near.into_iter().map(|found| (found.chunk_id, found)).collect();
        let mut found: Vec<DocumentPassage> = chunks
            .iter()
            .filter_map(|chunk| {
                let document = documents.get(&chunk.document_id)?;
                Some(passage(chunk, document, near.get(&chunk.id), &weights))
            })
            .collect();
        // The id only makes the order of equals definite.
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk_id.cmp(&b.chunk_id)));
        let near =
            Calibration::for_model(recall.embedder.name()).with_minimum(recall.settings.min_similarity);
        keep_relevant(&mut found, near, inquiry.kind);
        let mut of_document: HashMap<DocumentId, usize> = HashMap::new();
        found.retain(|passage| {
            let count = of_document.entry(passage.document.id).or_default();
            *count += 1;
            *count <= recall.settings.dedup_max_per_doc
        });
        found.truncate(limit);
        // What was said before comes first where there is little room.
        let mut room = recall.settings.token_budget / 2;
        for mut passage in found {
            passage.tokens = format::room_of_document(&passage);
            if passage.tokens <= room {
                room -= passage.tokens;
                inquiry.documents.push(passage);
            }
        }
        Ok(())
    }
}

/// Which documents may be found: of the days that are asked for, and no posts of other projects where those are forbidden.
fn filter(inquiry: &Inquiry) -> DocumentFilter {
    let day = |moment: Timestamp| moment.day_in(&inquiry.zone);
    // What ends in the middle of a day ends with it.
    let until = inquiry.filter.until.map(|until| Timestamp::from_millis(until.as_millis() + DAY - 1));
    DocumentFilter {
        since: inquiry.filter.since.map(day),
        until: until.map(day),
        scope: inquiry.filter.scope.clone(),
    }
}

/// Nothing unless one is clearly relevant; then others may be less.
fn keep_relevant(found: &mut Vec<DocumentPassage>, near: Calibration, kind: QueryKind) {
    let ((to_answer, to_be_among), (coverage, coverage_among)) = match kind {
        QueryKind::Prompt => ((near.to_answer, near.to_be_among), COVERAGE),
        QueryKind::Search => ((near.to_be_found, near.to_be_found), COVERAGE_SEARCHED),
    };
    if !found.iter().any(|passage| passage.similarity >= to_answer || passage.coverage >= coverage) {
        found.clear();
    }
    found.retain(|passage| passage.similarity >= to_be_among || passage.coverage >= coverage_among);
}

/// The part of a chunk that matters, and how much.
fn passage(
    chunk: &Chunk,
    document: &Document,
    near: Option<&ChunkMatch>,
    weights: &WordWeights,
) -> DocumentPassage {
    let title = telling_words(&document.title);
    let (mut coverage, mut part) = weights.best_stretch(&chunk.text, &title);
    let similarity = near.map_or(0.0, |found| found.score);
    if let Some(text) = near.and_then(|found| chunk.text.get(found.part.clone())) {
        let of_part = weights.coverage(text, &title);
        // What is nearest in meaning is quoted, unless the words stand elsewhere.
        if of_part >= coverage {
            (coverage, part) = (of_part, near.map_or(part, |found| found.part.clone()));
        } else if coverage < COVERAGE.0 {
            part = near.map_or(part, |found| found.part.clone());
        }
    }
    DocumentPassage {
        chunk_id: chunk.id,
        document: document.clone(),
        text: excerpt(&chunk.text[part], &weights.words, LONGEST),
        score: similarity + coverage,
        similarity,
        coverage,
        tokens: 0,
    }
}

/// The words of a question, and how much each counts: the more, the fewer chunks have it.
struct WordWeights {
    words: Vec<String>,
    rarity: Vec<f64>,
}

impl WordWeights {
    fn new(words: &[String], with_words: &[ChunksWithWord], all: u64) -> Self {
        // Of a few chunks nothing can be told about how rare a word is.
        let all = all.max(FEW) as f64;
        let rarity = words.iter().enumerate().map(|(place, _)| {
            // A word that very many have tells nothing.
            let Some(Some(chunks)) = with_words.get(place) else { return 0.0 };
            let having = chunks.len() as f64;
            (1.0 + (all - having + 0.5).max(0.5) / (having + 0.5)).ln()
        });
        Self { words: words.to_vec(), rarity: rarity.collect() }
    }

    /// The chunks with the most of the words.
    fn best(&self, with_words: &[ChunksWithWord]) -> Vec<ChunkId> {
        let mut scores: HashMap<ChunkId, f64> = HashMap::new();
        for (chunks, rarity) in with_words.iter().zip(&self.rarity) {
            for (chunk, count) in chunks.iter().flatten() {
                let count = f64::from(*count);
                *scores.entry(*chunk).or_default() += rarity * count / (count + 1.0);
            }
        }
        let mut best: Vec<(ChunkId, f64)> = scores.into_iter().collect();
        // The id only makes the order of equals definite.
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.into_iter().take(CLOSELY).map(|(chunk, _)| chunk).collect()
    }

    /// How much of the words a text has, its title counted in: 0 to 1.
    fn coverage(&self, text: &str, title: &[String]) -> f64 {
        let has: HashSet<String> = telling_words(text).into_iter().chain(title.iter().cloned()).collect();
        let all: f64 = self.rarity.iter().sum();
        let found = self
            .words
            .iter()
            .zip(&self.rarity)
            .filter(|(word, _)| has.contains(*word) || has.iter().any(|known| is_form_of(known, word)));
        if all > 0.0 { found.map(|(_, rarity)| rarity).sum::<f64>() / all } else { 0.0 }
    }

    /// The stretch of a text that has the most of the words, and how much it has.
    fn best_stretch(&self, text: &str, title: &[String]) -> (f64, Range<usize>) {
        let mut best = (-1.0, 0..0);
        let mut start = 0;
        while start < text.len() {
            let end = text.ceil_char_boundary((start + TOGETHER).min(text.len()));
            let coverage = self.coverage(&text[start..end], title);
            if coverage > best.0 {
                best = (coverage, start..end);
            }
            if end == text.len() {
                break;
            }
            start = text.ceil_char_boundary(start + TOGETHER / 2);
        }
        (best.0.max(0.0), best.1)
    }
}
