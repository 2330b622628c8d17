//! Searches documents by meaning and by keyword.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use async_trait::async_trait;
use memoir_core::{Chunk, ChunkId, Document, DocumentId, DocumentPassage, Timestamp, content_words};
use memoir_store::{ChunkMatch, ChunksWithWord, DocumentFilter};

use crate::{
    Inquiry, QueryKind, Recall, RecallError, Stage,
    calibration::Calibration,
    excerpt::{excerpt_markdown, is_form_of},
    format,
};

/// Number of candidate chunks by meaning, and number by keyword.
const CANDIDATES: usize = 12;

/// Maximum length of an excerpt, in characters.
const EXCERPT_CHARS: usize = 400;

/// Size of the span in which words are counted together, in bytes.
const SPAN_BYTES: usize = 1000;

/// Minimum coverage of the best passage and of the others, for a prompt.
const PROMPT_COVERAGE: (f64, f64) = (0.62, 0.5);

/// Minimum coverage of the best passage and of the others, for a search.
const SEARCH_COVERAGE: (f64, f64) = (0.4, 0.4);

/// Minimum number of chunks assumed for the rarity of words, because a few chunks say nothing about it.
const MIN_CHUNKS: u64 = 1000;

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

pub(crate) struct SearchDocumentsStage;

#[async_trait]
impl Stage for SearchDocumentsStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let limit = recall.settings.document_limit;
        // A search within one conversation does not include documents.
        if limit == 0 || inquiry.asks_nothing() || inquiry.filter.conversation.is_some() {
            return Ok(());
        }
        let words = &inquiry.question.words;
        let filter = filter(inquiry);
        let (with_words, all) = recall.store.chunks_with_words(words, &filter).await?;
        if all == 0 {
            return Ok(());
        }
        let nearest = match &inquiry.vector {
            Some(vector) => recall.nearest_chunks(vector, &filter, CANDIDATES).await?,
            None => Vec::new(),
        };
        let weights = WordWeights::new(words, &with_words, all);
        let mut candidates: Vec<ChunkId> = nearest.iter().map(|chunk| chunk.chunk_id).collect();
        candidates.extend(weights.best_chunks(&with_words));
        let mut seen = HashSet::new();
        candidates.retain(|id| seen.insert(*id));
        let chunks = recall.store.chunks(&candidates).await?;
        let ids: Vec<DocumentId> = chunks.iter().map(|chunk| chunk.document_id).collect();
        let documents = recall.store.documents_by_id(&ids).await?;
        let documents: HashMap<DocumentId, Document> =
            documents.into_iter().map(|document| (document.id, document)).collect();
        let nearest: HashMap<ChunkId, ChunkMatch> =
            nearest.into_iter().map(|chunk| (chunk.chunk_id, chunk)).collect();
        let mut passages: Vec<DocumentPassage> = chunks
            .iter()
            .filter_map(|chunk| {
                let document = documents.get(&chunk.document_id)?;
                Some(build_passage(chunk, document, nearest.get(&chunk.id), &weights))
            })
            .collect();
        // The id makes the order of equal scores deterministic.
        passages.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk_id.cmp(&b.chunk_id)));
        inquiry.document_candidates = passages.clone();
        let thresholds = Calibration::for_model(recall.embedder.as_ref(), all)
            .with_minimum(recall.settings.min_similarity);
        keep_relevant(&mut passages, thresholds, inquiry.kind);
        let mut counts: HashMap<DocumentId, usize> = HashMap::new();
        passages.retain(|passage| {
            let count = counts.entry(passage.document.id).or_default();
            *count += 1;
            *count <= recall.settings.dedup_max_per_doc
        });
        passages.truncate(limit);
        // Reserve at least half of the budget for conversations.
        let mut remaining = recall.settings.token_budget / 2;
        for mut passage in passages {
            passage.tokens = format::count_document_tokens(&passage);
            if passage.tokens <= remaining {
                remaining -= passage.tokens;
                inquiry.documents.push(passage);
            }
        }
        Ok(())
    }
}

/// Converts the message filter to a document filter with the same days and project.
fn filter(inquiry: &Inquiry) -> DocumentFilter {
    let day = |moment: Timestamp| moment.format_date(&inquiry.zone);
    // Round up to the end of the day.
    let until = inquiry.filter.until.map(|until| Timestamp::from_millis(until.as_millis() + DAY_MILLIS - 1));
    DocumentFilter {
        since: inquiry.filter.since.map(day),
        until: until.map(day),
        scope: inquiry.filter.scope.clone(),
        visible_to: inquiry.filter.visible_to.clone(),
    }
}

/// Keeps relevant passages, provided that one is clearly relevant.
fn keep_relevant(passages: &mut Vec<DocumentPassage>, thresholds: Calibration, kind: QueryKind) {
    let ((best_similarity, similarity), (best_coverage, coverage)) = match kind {
        QueryKind::Prompt => ((thresholds.prompt_best, thresholds.prompt_other), PROMPT_COVERAGE),
        QueryKind::Search => ((thresholds.search, thresholds.search), SEARCH_COVERAGE),
    };
    let is_clearly_relevant = |passage: &DocumentPassage| {
        passage.similarity >= best_similarity || passage.coverage >= best_coverage
    };
    if !passages.iter().any(is_clearly_relevant) {
        passages.clear();
    }
    passages.retain(|passage| passage.similarity >= similarity || passage.coverage >= coverage);
}

/// Builds a passage from the most relevant part of a chunk.
fn build_passage(
    chunk: &Chunk,
    document: &Document,
    chunk_match: Option<&ChunkMatch>,
    weights: &WordWeights,
) -> DocumentPassage {
    let title = content_words(&document.title);
    let (mut coverage, mut part) = weights.best_span(&chunk.text, &title);
    let similarity = chunk_match.map_or(0.0, |chunk_match| chunk_match.score);
    if let Some(text) = chunk_match.and_then(|chunk_match| chunk.text.get(chunk_match.part.clone())) {
        let nearest_coverage = weights.coverage(text, &title);
        // Quote the part nearest in meaning, unless the words are clearly in another part.
        if nearest_coverage >= coverage {
            coverage = nearest_coverage;
            part = chunk_match.map_or(part, |chunk_match| chunk_match.part.clone());
        } else if coverage < PROMPT_COVERAGE.0 {
            part = chunk_match.map_or(part, |chunk_match| chunk_match.part.clone());
        }
    }
    DocumentPassage {
        chunk_id: chunk.id,
        document: document.clone(),
        text: excerpt_markdown(&chunk.text[part], &weights.words, EXCERPT_CHARS),
        score: similarity + coverage,
        similarity,
        coverage,
        tokens: 0,
    }
}

/// The words of a question with their weights. Words that occur in fewer chunks weigh more.
struct WordWeights {
    words: Vec<String>,
    rarity: Vec<f64>,
}

impl WordWeights {
    fn new(words: &[String], with_words: &[ChunksWithWord], all: u64) -> Self {
        let all = all.max(MIN_CHUNKS) as f64;
        let rarity = words.iter().enumerate().map(|(index, _)| {
            // The store returns no chunks for a word that is too common to be useful.
            let Some(Some(chunks)) = with_words.get(index) else { return 0.0 };
            let count = chunks.len() as f64;
            (1.0 + (all - count + 0.5).max(0.5) / (count + 0.5)).ln()
        });
        Self { words: words.to_vec(), rarity: rarity.collect() }
    }

    /// Returns the chunks with the highest keyword scores.
    fn best_chunks(&self, with_words: &[ChunksWithWord]) -> Vec<ChunkId> {
        let mut scores: HashMap<ChunkId, f64> = HashMap::new();
        for (chunks, rarity) in with_words.iter().zip(&self.rarity) {
            for (chunk, count) in chunks.iter().flatten() {
                let count = f64::from(*count);
                *scores.entry(*chunk).or_default() += rarity * count / (count + 1.0);
            }
        }
        let mut best: Vec<(ChunkId, f64)> = scores.into_iter().collect();
        // The id makes the order of equal scores deterministic.
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.into_iter().take(CANDIDATES).map(|(chunk, _)| chunk).collect()
    }

    /// Returns the weighted fraction of the words found in a text or its title, from 0 to 1.
    fn coverage(&self, text: &str, title: &[String]) -> f64 {
        let text_words: HashSet<String> =
            content_words(text).into_iter().chain(title.iter().cloned()).collect();
        let total: f64 = self.rarity.iter().sum();
        let matches = self.words.iter().zip(&self.rarity).filter(|(word, _)| {
            text_words.contains(*word) || text_words.iter().any(|text_word| is_form_of(text_word, word))
        });
        if total > 0.0 { matches.map(|(_, rarity)| rarity).sum::<f64>() / total } else { 0.0 }
    }

    /// Returns the coverage and the range of the span with the highest coverage.
    fn best_span(&self, text: &str, title: &[String]) -> (f64, Range<usize>) {
        let mut best = (-1.0, 0..0);
        let mut start = 0;
        while start < text.len() {
            let end = text.ceil_char_boundary((start + SPAN_BYTES).min(text.len()));
            let coverage = self.coverage(&text[start..end], title);
            if coverage > best.0 {
                best = (coverage, start..end);
            }
            if end == text.len() {
                break;
            }
            start = text.ceil_char_boundary(start + SPAN_BYTES / 2);
        }
        (best.0.max(0.0), best.1)
    }
}
