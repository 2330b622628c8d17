//! The documents that are related to a whole window of a conversation.
//!
//! A conversation about several topics has no single meaning: as one query it finds documents about its dominant topic, or none. So
//! the window is written as Markdown, cut into chunks as documents are, and each chunk is a query of its own. The results are
//! merged, each document once, the best first.

use std::{collections::HashMap, ops::Range};

use futures::future::try_join_all;
use memoir_core::{ChunkId, Document, DocumentId, DocumentPassage, Purpose, TimeZone, Timestamp};
use memoir_models::EmbedTask;
use memoir_store::{ChunkMatch, ChunkSearch, DocumentFilter};

use crate::{
    Dedup, Recall, RecallError, RecallSettings,
    calibration::Calibration,
    chunk,
    excerpt::excerpt,
    format,
    selection::{deduplicate, merge, most_marginally_relevant},
};

/// How much of a document is quoted.
const LONGEST: usize = 400;

/// A message of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowMessage {
    /// Who said it.
    pub author: String,
    /// When.
    pub created: Timestamp,
    /// What.
    pub text: String,
}

/// What is related to a window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RelatedDocuments {
    /// The documents, the most related first.
    pub documents: Vec<DocumentPassage>,
    /// How it was found, step by step, in figures.
    pub log: Vec<String>,
}

/// Why there are no related documents.
#[derive(Debug, thiserror::Error)]
pub enum RelatedDocumentsError {
    /// Nothing was found.
    #[error("no document is related to it")]
    NoHits {
        /// How it was looked for.
        log: Vec<String>,
    },
    /// Looking failed.
    #[error("related documents could not be looked for: {0}")]
    SystemError(#[from] RecallError),
}

/// A window of messages as Markdown.
pub fn to_markdown(messages: &[WindowMessage], zone: &TimeZone) -> String {
    let mut text = String::new();
    for (number, message) in (1..).zip(messages) {
        text.push_str(&format!(
            "## Message {number}\n**Author:** {}\n**Timestamp:** {}\n\n{}\n\n",
            message.author,
            message.created.minute_in(zone),
            message.text.trim()
        ));
    }
    text
}

impl Recall {
    /// Returns the documents that are related to a window of messages.
    ///
    /// # Errors
    ///
    /// Fails if no document is related, or if the search itself fails. Callers carry on without documents in both cases.
    pub async fn related(
        &self,
        messages: &[WindowMessage],
    ) -> Result<RelatedDocuments, RelatedDocumentsError> {
        let mut log = Vec::new();
        match self.look_for_related(messages, &mut log).await? {
            documents if documents.is_empty() => Err(RelatedDocumentsError::NoHits { log }),
            documents => Ok(RelatedDocuments { documents, log }),
        }
    }

    async fn look_for_related(
        &self,
        messages: &[WindowMessage],
        log: &mut Vec<String>,
    ) -> Result<Vec<DocumentPassage>, RecallError> {
        let settings = &self.settings;
        let text = to_markdown(messages, &self.zone);
        let chunks: Vec<&str> = chunk(&text, settings.chunk_size())
            .iter()
            .map(|span| &text[span.new.start - span.overlap..span.new.end])
            .collect();
        if chunks.is_empty() {
            log.push("No messages to look for related documents with".into());
            return Ok(Vec::new());
        }
        log.push(format!("Chunked conversation into {} for RAG query", count(chunks.len(), "chunk")));
        let vectors = self.embed_window(&chunks).await?;
        let queries = queries(vectors, messages.len(), settings);
        log.push(match (queries.len(), chunks.len()) {
            (1, 1) => "Small window: one query".into(),
            (1, _) => {
                format!("Fewer than {} messages: one query", settings.chunk_from_messages)
            }
            (all, chunks) if all > chunks => {
                format!("{} and the whole window: {all} queries", count(chunks, "chunk"))
            }
            (all, _) => format!("{all} queries"),
        });
        let found = self.search_each(queries).await?;
        let total: usize = found.iter().map(Vec::len).sum();
        let each: Vec<String> = found.iter().map(|found| found.len().to_string()).collect();
        log.push(format!(
            "Collected {total} total results from {} ({})",
            count(found.len(), "query"),
            each.join(", ")
        ));
        let deduplicated = deduplicate(merge(found), settings);
        log.push(match settings.dedup_strategy {
            Dedup::Document => format!(
                "Deduplication: {total} results → {} (n={} per doc)",
                count(deduplicated.len(), "unique chunk"),
                settings.dedup_max_per_doc
            ),
            other => format!("Deduplication: {total} results → {} ({})", deduplicated.len(), other.as_str()),
        });
        let unique = deduplicated.len();
        let chosen = most_marginally_relevant(deduplicated, settings.mmr_lambda, settings.top_k);
        log.push(format!(
            "RAG query complete: {} → {total} results → {unique} deduped → {} final",
            count(chunks.len(), "chunk"),
            chosen.len()
        ));
        self.passages(chosen).await
    }

    /// The vectors of the chunks of a window, in one batch. A chunk that is longer than the model reads has the mean of its parts.
    async fn embed_window(&self, chunks: &[&str]) -> Result<Vec<Vec<f32>>, RecallError> {
        let chunks: Vec<String> = chunks.iter().map(|text| words_alone(text)).collect();
        let parts: Vec<Vec<Range<usize>>> = chunks.iter().map(|text| self.parts(text, "")).collect();
        let texts: Vec<String> = chunks
            .iter()
            .zip(&parts)
            .flat_map(|(text, parts)| {
                parts.iter().map(|part| self.fit_to_send(text[part.clone()].to_owned()))
            })
            .collect();
        let embedded = self.embedder.embed(&texts, EmbedTask::Query).await?;
        self.note_cost(Purpose::Query, embedded.usage, None).await?;
        let mut vectors = embedded.vectors.into_iter();
        let of_chunk =
            |parts: &Vec<Range<usize>>| mean(&vectors.by_ref().take(parts.len()).collect::<Vec<_>>());
        Ok(parts.iter().map(of_chunk).collect())
    }

    /// What each query finds, side by side.
    async fn search_each(&self, queries: Vec<Vec<f32>>) -> Result<Vec<Vec<ChunkMatch>>, RecallError> {
        let near = Calibration::for_model(self.embedder.name()).with_minimum(self.settings.min_similarity);
        let searches = queries.into_iter().map(|vector| {
            let recall = self.clone();
            // Each on a thread of its own, as far as there are some.
            tokio::spawn(async move {
                recall
                    .nearest_chunks(&vector, &DocumentFilter::default(), recall.settings.chunks_per_query)
                    .await
            })
        });
        let found = try_join_all(searches).await;
        let found = found.map_err(|error| RecallError::Stage(format!("a search crashed: {error}")))?;
        let near_enough = |mut found: Vec<ChunkMatch>| {
            found.retain(|found| found.score >= near.to_be_found);
            found
        };
        found.into_iter().map(|found| found.map(near_enough)).collect()
    }

    /// The chunks of documents that are nearest to a vector.
    pub(crate) async fn nearest_chunks(
        &self,
        vector: &[f32],
        filter: &DocumentFilter,
        limit: usize,
    ) -> Result<Vec<ChunkMatch>, RecallError> {
        let search = ChunkSearch {
            model: self.embedder.name(),
            vector,
            effort: self.settings.search_effort(),
            filter,
            limit,
        };
        Ok(self.store.nearest_chunks(&search).await?)
    }

    async fn passages(&self, found: Vec<ChunkMatch>) -> Result<Vec<DocumentPassage>, RecallError> {
        let ids: Vec<ChunkId> = found.iter().map(|found| found.chunk_id).collect();
        let chunks = self.store.chunks(&ids).await?;
        let ids: Vec<DocumentId> = found.iter().map(|found| found.document_id).collect();
        let documents = self.store.documents_by_id(&ids).await?;
        let documents: HashMap<DocumentId, Document> =
            documents.into_iter().map(|document| (document.id, document)).collect();
        let passages = found.into_iter().filter_map(|found| {
            // What was removed meanwhile is not there any more.
            let chunk = chunks.iter().find(|chunk| chunk.id == found.chunk_id)?;
            let document = documents.get(&chunk.document_id)?.clone();
            let text = excerpt(chunk.text.get(found.part).unwrap_or(&chunk.text), &[], LONGEST);
            let (similarity, score) = (found.score, found.score);
            let mut passage = DocumentPassage {
                chunk_id: chunk.id,
                document,
                text,
                score,
                similarity,
                coverage: 0.0,
                tokens: 0,
            };
            passage.tokens = format::room_of_document(&passage);
            Some(passage)
        });
        Ok(passages.collect())
    }
}

/// What was said, without who said it and when: that stands in every chunk, and would make all of them mean the same.
fn words_alone(chunk: &str) -> String {
    let frames = ["## Message ", "**Author:** ", "**Timestamp:** "];
    let lines = chunk.lines().filter(|line| !frames.iter().any(|frame| line.starts_with(frame)));
    let words: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    if words.is_empty() { chunk.to_owned() } else { words.join("\n") }
}

/// What is searched for: the whole window where it is small; its chunks where it is not, and the whole beside them.
fn queries(chunks: Vec<Vec<f32>>, messages: usize, settings: &RecallSettings) -> Vec<Vec<f32>> {
    let whole = mean(&chunks);
    if chunks.len() == 1 || messages < settings.chunk_from_messages {
        return vec![whole];
    }
    let mut queries = chunks;
    queries.extend(settings.hybrid.then_some(whole));
    queries
}

/// The direction in which some vectors point together.
fn mean(vectors: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = vec![0.0_f32; vectors.first().map_or(0, Vec::len)];
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        sum.iter_mut().for_each(|value| *value /= length);
    }
    sum
}

fn count(number: usize, what: &str) -> String {
    match (number, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_markdown_with_author_and_time() {
        let messages =
            [("Anna", 0, "Hello world "), ("Ben", 300_000, "Hi there")].map(|(author, created, text)| {
                WindowMessage {
                    author: author.into(),
                    created: Timestamp::from_millis(created),
                    text: text.into(),
                }
            });
        assert_eq!(
            to_markdown(&messages, &TimeZone::UTC),
            "## Message 1\n**Author:** Anna\n**Timestamp:** 1970-01-01 00:00\n\nHello world\n\n\
             ## Message 2\n**Author:** Ben\n**Timestamp:** 1970-01-01 00:05\n\nHi there\n\n"
        );
        assert_eq!(to_markdown(&[], &TimeZone::UTC), "");
    }

    #[test]
    fn small_windows_are_one_query_and_large_ones_have_the_whole_beside_the_chunks() {
        let vectors = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
        let settings = RecallSettings { chunk_from_messages: 100, hybrid: true, ..RecallSettings::default() };
        let number = |messages, settings: &RecallSettings| queries(vectors.clone(), messages, settings).len();
        assert_eq!((number(99, &settings), number(100, &settings)), (1, 3));
        assert_eq!(number(100, &RecallSettings { hybrid: false, ..settings }), 2);
    }
}
