//! Finding the documents related to a window of a conversation.
//!
//! A conversation may cover several topics. As a single query it would find documents on its dominant topic, or none.
//! The window is therefore formatted as Markdown and split into chunks like a document, and each chunk is a query of
//! its own. The results are merged and deduplicated.

use std::{collections::HashMap, ops::Range};

use futures::future::try_join_all;
use memoir_core::{ChunkId, Document, DocumentId, DocumentPassage, Purpose, TimeZone, Timestamp};
use memoir_models::EmbedTask;
use memoir_store::{ChunkMatch, ChunkSearch, DocumentFilter};

use crate::{
    Dedup, Recall, RecallError, RecallSettings,
    calibration::Calibration,
    excerpt::excerpt,
    format,
    selection::{deduplicate, merge, select_diverse},
    split_into_chunks,
};

/// Maximum length of an excerpt of a document, in characters.
const EXCERPT_CHARS: usize = 400;

/// A message of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowMessage {
    /// Name of the author.
    pub author: String,
    /// When the message was sent.
    pub created: Timestamp,
    /// Text of the message.
    pub text: String,
}

/// The documents related to a window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RelatedDocuments {
    /// Passages of the documents, most relevant first.
    pub documents: Vec<DocumentPassage>,
    /// Number of results at each step of the search.
    pub log: Vec<String>,
}

/// The reason there are no related documents.
#[derive(Debug, thiserror::Error)]
pub enum RelatedDocumentsError {
    /// No document is similar enough.
    #[error("no related documents were found")]
    NoHits {
        /// Number of results at each step of the search.
        log: Vec<String>,
    },
    /// The question could not be embedded, or the store could not be searched.
    #[error("could not search for related documents: {0}")]
    SystemError(#[from] RecallError),
}

/// Formats a window of messages as Markdown.
pub fn to_markdown(messages: &[WindowMessage], zone: &TimeZone) -> String {
    let mut text = String::new();
    for (number, message) in (1..).zip(messages) {
        text.push_str(&format!(
            "## Message {number}\n**Author:** {}\n**Timestamp:** {}\n\n{}\n\n",
            message.author,
            message.created.format_minute(zone),
            message.text.trim()
        ));
    }
    text
}

impl Recall {
    /// Returns the documents related to a window of messages.
    ///
    /// # Errors
    ///
    /// Fails if there are no related documents or the search fails. Callers continue without documents in both cases.
    pub async fn find_related_documents(
        &self,
        messages: &[WindowMessage],
    ) -> Result<RelatedDocuments, RelatedDocumentsError> {
        let mut log = Vec::new();
        match self.search_related(messages, &mut log).await? {
            documents if documents.is_empty() => Err(RelatedDocumentsError::NoHits { log }),
            documents => Ok(RelatedDocuments { documents, log }),
        }
    }

    async fn search_related(
        &self,
        messages: &[WindowMessage],
        log: &mut Vec<String>,
    ) -> Result<Vec<DocumentPassage>, RecallError> {
        let settings = &self.settings;
        let text = to_markdown(messages, &self.zone);
        let chunks: Vec<&str> = split_into_chunks(&text, settings.chunk_size())
            .iter()
            .map(|span| &text[span.new.start - span.overlap..span.new.end])
            .collect();
        if chunks.is_empty() {
            log.push("No messages to search with".into());
            return Ok(Vec::new());
        }
        log.push(format!("Chunked conversation into {} for RAG query", count(chunks.len(), "chunk")));
        let vectors = self.embed_window(&chunks).await?;
        let queries = select_queries(vectors, messages.len(), settings);
        log.push(match (queries.len(), chunks.len()) {
            (1, 1) => "Small window: one query".into(),
            (1, _) => {
                format!("Fewer than {} messages: one query", settings.chunk_from_messages)
            }
            (queries, chunks) if queries > chunks => {
                format!("{} and the whole window: {queries} queries", count(chunks, "chunk"))
            }
            (queries, _) => format!("{queries} queries"),
        });
        let results = self.search_each(queries).await?;
        let total: usize = results.iter().map(Vec::len).sum();
        let counts: Vec<String> = results.iter().map(|result| result.len().to_string()).collect();
        log.push(format!(
            "Collected {total} total results from {} ({})",
            count(results.len(), "query"),
            counts.join(", ")
        ));
        let deduplicated = deduplicate(merge(results), settings);
        log.push(match settings.dedup_strategy {
            Dedup::Document => format!(
                "Deduplication: {total} results → {} (n={} per doc)",
                count(deduplicated.len(), "unique chunk"),
                settings.dedup_max_per_doc
            ),
            other => format!("Deduplication: {total} results → {} ({})", deduplicated.len(), other.as_str()),
        });
        let unique = deduplicated.len();
        let selected = select_diverse(deduplicated, settings.mmr_lambda, settings.top_k);
        log.push(format!(
            "RAG query complete: {} → {total} results → {unique} deduped → {} final",
            count(chunks.len(), "chunk"),
            selected.len()
        ));
        self.load_passages(selected).await
    }

    /// Embeds the chunks of a window in one batch. A chunk too long for the model gets the mean of its parts.
    async fn embed_window(&self, chunks: &[&str]) -> Result<Vec<Vec<f32>>, RecallError> {
        let chunks: Vec<String> = chunks.iter().map(|text| strip_headers(text)).collect();
        let parts: Vec<Vec<Range<usize>>> =
            chunks.iter().map(|text| self.split_for_model(text, "")).collect();
        let texts: Vec<String> = chunks
            .iter()
            .zip(&parts)
            .flat_map(|(text, parts)| {
                parts.iter().map(|part| self.prepare_to_send(text[part.clone()].to_owned()))
            })
            .collect();
        let embedded = self.embedder.embed(&texts, EmbedTask::Query).await?;
        self.record_cost(Purpose::Query, embedded.usage, None).await?;
        let mut vectors = embedded.vectors.into_iter();
        let combine =
            |parts: &Vec<Range<usize>>| mean(&vectors.by_ref().take(parts.len()).collect::<Vec<_>>());
        Ok(parts.iter().map(combine).collect())
    }

    /// Runs all queries concurrently and returns the results of each.
    async fn search_each(&self, queries: Vec<Vec<f32>>) -> Result<Vec<Vec<ChunkMatch>>, RecallError> {
        let (_, chunks) = self.store.chunks_with_words(&[], &DocumentFilter::default()).await?;
        let thresholds =
            Calibration::for_model(self.embedder.as_ref(), chunks).with_minimum(self.settings.min_similarity);
        let searches = queries.into_iter().map(|vector| {
            let recall = self.clone();
            // Spawn the searches so that they can run on separate threads.
            tokio::spawn(async move {
                recall
                    .nearest_chunks(&vector, &DocumentFilter::default(), recall.settings.chunks_per_query)
                    .await
            })
        });
        let results = try_join_all(searches).await;
        let results = results.map_err(|error| RecallError::Stage(format!("a search panicked: {error}")))?;
        let keep_similar = |mut chunks: Vec<ChunkMatch>| {
            chunks.retain(|chunk| chunk.score >= thresholds.search);
            chunks
        };
        results.into_iter().map(|result| result.map(keep_similar)).collect()
    }

    /// Returns the document chunks nearest to a vector.
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

    async fn load_passages(&self, matches: Vec<ChunkMatch>) -> Result<Vec<DocumentPassage>, RecallError> {
        let ids: Vec<ChunkId> = matches.iter().map(|chunk| chunk.chunk_id).collect();
        let chunks = self.store.chunks(&ids).await?;
        let ids: Vec<DocumentId> = matches.iter().map(|chunk| chunk.document_id).collect();
        let documents = self.store.documents_by_id(&ids).await?;
        let documents: HashMap<DocumentId, Document> =
            documents.into_iter().map(|document| (document.id, document)).collect();
        let passages = matches.into_iter().filter_map(|chunk_match| {
            // The document may have been deleted since the search.
            let chunk = chunks.iter().find(|chunk| chunk.id == chunk_match.chunk_id)?;
            let document = documents.get(&chunk.document_id)?.clone();
            let part = chunk.text.get(chunk_match.part).unwrap_or(&chunk.text);
            let text = excerpt(part, &[], EXCERPT_CHARS);
            let (similarity, score) = (chunk_match.score, chunk_match.score);
            let mut passage = DocumentPassage {
                chunk_id: chunk.id,
                document,
                text,
                score,
                similarity,
                coverage: 0.0,
                tokens: 0,
            };
            passage.tokens = format::count_document_tokens(&passage);
            Some(passage)
        });
        Ok(passages.collect())
    }
}

/// Returns the chunk without message headers. They occur in every chunk and would make all embeddings similar.
fn strip_headers(chunk: &str) -> String {
    let headers = ["## Message ", "**Author:** ", "**Timestamp:** "];
    let lines = chunk.lines().filter(|line| !headers.iter().any(|header| line.starts_with(header)));
    let text: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    if text.is_empty() { chunk.to_owned() } else { text.join("\n") }
}

/// Returns the vectors to search with: the whole window if it is small, otherwise its chunks and, in hybrid mode, also
/// the whole.
fn select_queries(chunks: Vec<Vec<f32>>, messages: usize, settings: &RecallSettings) -> Vec<Vec<f32>> {
    let whole = mean(&chunks);
    if chunks.len() == 1 || messages < settings.chunk_from_messages {
        return vec![whole];
    }
    let mut queries = chunks;
    queries.extend(settings.hybrid.then_some(whole));
    queries
}

/// Returns the mean of the vectors, normalized to unit length.
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

fn count(number: usize, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_formatted_with_author_and_time() {
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
    fn small_windows_are_one_query_and_large_ones_one_per_chunk_plus_the_whole() {
        let vectors = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
        let settings = RecallSettings { chunk_from_messages: 100, hybrid: true, ..RecallSettings::default() };
        let query_count =
            |messages, settings: &RecallSettings| select_queries(vectors.clone(), messages, settings).len();
        assert_eq!((query_count(99, &settings), query_count(100, &settings)), (1, 3));
        assert_eq!(query_count(100, &RecallSettings { hybrid: false, ..settings }), 2);
    }
}
