//! SQL for the searches that recall is built on.
//!
//! Queries with hundreds of rows sort them (`ORDER BY +id`), so that SQLite returns the first row when it has read all.
//! Otherwise, the caller would be woken for each row, which takes longer than reading it.

use std::{
    collections::{HashMap, HashSet},
    sync::atomic::Ordering,
};

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, MessageId, OWN_PROGRAM, Timestamp};
use memoir_index::error_margin;
use memoir_store::{
    Accuracy, ExchangeText, Filter, LATER_PART_DISCOUNT, Match, Memory, MessageOutline, MessagePart, Result,
    StoreError, SummaryMatch, VectorSearch, WordSearch, WordSearchResult,
};
use sqlx::{AssertSqlSafe, Row as _, sqlite::SqliteRow};
use tokio::sync::RwLockReadGuard;

use super::{
    SqliteStore,
    error::SqlResultExt as _,
    index::{self, Index, Neighbor, ScopedFilter, Segment, VectorSpace},
    job_rows::read_subject,
    rows::{read_range, to_json_list},
};

/// Number of candidates beyond the limit that are scored exactly at first. Their scores show which of the remaining
/// candidates could still be among the results.
const EXTRA_CANDIDATES: usize = 100;

/// Number of segments written in one transaction. Syncing each one separately would dominate the time.
const SEGMENTS_PER_TRANSACTION: usize = 16;

/// Number of searches after which reading the embeddings into memory pays off.
const SEARCHES_BEFORE_CACHING: u32 = 3;

#[async_trait]
impl Memory for SqliteStore {
    async fn nearest(&self, search: &VectorSearch<'_>) -> Result<Vec<Match>> {
        let VectorSearch { model, vector, filter, effort, limit } = *search;
        if vector.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let in_scope = self.conversations_in_scope(filter).await?;
        let index = self.index(Some(VectorSpace { model, dimensions: vector.len() })).await?;
        let allowed = ScopedFilter { filter, in_scope: in_scope.as_deref() };
        let candidates = index.nearest(vector, allowed, effort.accuracy, &self.graphs, limit);
        self.build_graph(&index, effort.accuracy);
        self.cache_vectors(&index);
        drop(index);
        let (first, others) = candidates.split_at(candidates.len().min(limit + EXTRA_CANDIDATES));
        let mut matches = sort_and_limit(self.score(first, vector).await?, limit);
        let last = matches.last().filter(|_| matches.len() == limit);
        let threshold = last.map_or(f64::MIN, |last| last.score - error_margin(last.score, vector.len()));
        let others = &others[..others.partition_point(|candidate| f64::from(candidate.estimate) > threshold)];
        if !others.is_empty() {
            matches.extend(self.score(others, vector).await?);
            matches = sort_and_limit(matches, limit);
        }
        Ok(matches)
    }

    async fn nearest_summaries(&self, search: &VectorSearch<'_>) -> Result<Vec<SummaryMatch>> {
        let VectorSearch { model, vector, filter, limit, .. } = *search;
        if vector.is_empty() {
            return Ok(Vec::new());
        }
        let space = Some(VectorSpace { model, dimensions: vector.len() });
        if !self.index(space).await?.has_summaries() {
            return Ok(Vec::new());
        }
        let in_scope = self.conversations_in_scope(filter).await?;
        let index = self.index(space).await?;
        let ids =
            index.nearest_summaries(vector, ScopedFilter { filter, in_scope: in_scope.as_deref() }, limit);
        drop(index);
        let mut matches = sqlx::query(
            "SELECT subject_kind, subject_id, conversation_id, vector FROM json_each(?) AS wanted
             CROSS JOIN summary_embeddings ON summary_embeddings.id = wanted.value",
        )
        .bind(to_json_list(ids.into_iter()))
        .try_map(|row: SqliteRow| {
            Ok(SummaryMatch {
                subject: read_subject(&row)?,
                conversation_id: ConversationId::new(row.try_get("conversation_id")?),
                score: index::cosine(vector, row.try_get("vector")?),
            })
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()?;
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.subject.cmp(&a.subject)));
        matches.truncate(limit);
        Ok(matches)
    }

    async fn similarities(
        &self,
        model: &str,
        vector: &[f32],
        conversations: &[ConversationId],
    ) -> Result<Vec<Match>> {
        if vector.is_empty() {
            return Ok(Vec::new());
        }
        let index = self.index(Some(VectorSpace { model, dimensions: vector.len() })).await?;
        Ok(index.estimates(vector, conversations))
    }

    async fn nearest_parts(
        &self,
        model: &str,
        vector: &[f32],
        messages: &[MessageId],
    ) -> Result<Vec<MessagePart>> {
        let parts = sqlx::query(
            "SELECT subject_id, part, first, past, vector FROM json_each(?1) AS wanted CROSS JOIN embeddings
             ON model = ?2 AND subject_kind = 'message' AND subject_id = wanted.value
             ORDER BY +embeddings.id",
        )
        .bind(to_json_list(messages.iter().map(|id| id.get())))
        .bind(model)
        .try_map(|row: SqliteRow| {
            let bytes = row.try_get("vector")?;
            let similarity = index::cosine(vector, bytes);
            let part = MessagePart {
                message_id: MessageId::new(row.try_get("subject_id")?),
                range: read_range(&row)?,
                score: similarity - discount(&row)?,
                vector: index::decode_vector(bytes),
            };
            Ok((similarity, part))
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()?;
        let mut nearest: HashMap<MessageId, (f64, MessagePart)> = HashMap::new();
        for (similarity, mut part) in parts {
            match nearest.get_mut(&part.message_id) {
                Some((best, nearest)) if *best >= similarity => nearest.score = nearest.score.max(part.score),
                other => {
                    let score = other.map_or(f64::MIN, |(_, nearest)| nearest.score);
                    part.score = part.score.max(score);
                    nearest.insert(part.message_id, (similarity, part));
                }
            }
        }
        Ok(nearest.into_values().map(|(_, part)| part).collect())
    }

    async fn search_words(&self, search: &WordSearch<'_>) -> Result<WordSearchResult> {
        let WordSearch { words, filter, conversations, extra_conversations } = *search;
        let (in_scope, message_ids) =
            tokio::try_join!(self.conversations_in_scope(filter), self.messages_with(words))?;
        let index = self.index(None).await?;
        let allowed = ScopedFilter { filter, in_scope: in_scope.as_deref() };
        Ok(index.match_words(&message_ids, allowed, conversations, extra_conversations))
    }

    async fn outlines(&self, conversations: &[ConversationId]) -> Result<Vec<MessageOutline>> {
        Ok(self.index(None).await?.outlines(conversations))
    }

    async fn outlines_between(&self, start: Timestamp, end: Timestamp) -> Result<Vec<MessageOutline>> {
        Ok(self.index(None).await?.outlines_between(start, end))
    }

    async fn embedded_count(&self, model: &str) -> Result<u64> {
        Ok(self.index(None).await?.embedded_count(model))
    }

    async fn committed_before(
        &self,
        exchanges: &[ExchangeId],
        before: ExchangeId,
    ) -> Result<Vec<ExchangeId>> {
        // Ids follow the order of commits, because there is only one writer at a time.
        Ok(exchanges.iter().copied().filter(|exchange| *exchange < before).collect())
    }

    async fn exchange_texts(&self, exchanges: &[ExchangeId]) -> Result<Vec<ExchangeText>> {
        sqlx::query(
            "SELECT id, user_message,
                    -- An answer that quotes memory is not quoted again.
                    iif(EXISTS (SELECT 1 FROM messages
                                WHERE exchange_id = exchanges.id AND role = 'assistant' AND derived = 1),
                        '', assistant_message) AS assistant_message
             FROM exchanges WHERE id IN (SELECT value FROM json_each(?))",
        )
        .bind(to_json_list(exchanges.iter().map(|id| id.get())))
        .try_map(|row: SqliteRow| {
            Ok(ExchangeText {
                id: ExchangeId::new(row.try_get("id")?),
                user: row.try_get("user_message")?,
                assistant: row.try_get("assistant_message")?,
            })
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    async fn texts(&self, messages: &[MessageId]) -> Result<Vec<(MessageId, String)>> {
        sqlx::query(
            "SELECT id, content FROM messages WHERE id IN (SELECT value FROM json_each(?)) ORDER BY +id",
        )
        .bind(to_json_list(messages.iter().map(|id| id.get())))
        .try_map(|row: SqliteRow| Ok((MessageId::new(row.try_get("id")?), row.try_get("content")?)))
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    async fn familiar_words(&self, words: &[String]) -> Result<Vec<bool>> {
        let mut familiar = Vec::with_capacity(words.len());
        for stems in self.stems.find(words).await? {
            let mut count: i64 = 0;
            for stem in stems {
                count += sqlx::query_scalar::<_, i64>(
                    "SELECT count(*) FROM (SELECT 1 FROM _message_words WHERE term = ? LIMIT 2)",
                )
                .bind(stem)
                .fetch_one(&self.readers)
                .await
                .or_store_error()?;
            }
            familiar.push(count >= 2);
        }
        Ok(familiar)
    }

    async fn authors(&self) -> Result<Vec<String>> {
        Ok(self.index(None).await?.names())
    }
}

impl SqliteStore {
    /// Returns the index of messages, up to date.
    pub(super) async fn index(&self, space: Option<VectorSpace<'_>>) -> Result<RwLockReadGuard<'_, Index>> {
        let mut index = self.index.write().await;
        index.refresh(&self.readers, space).await?;
        if index.is_worth_packing() {
            self.pack();
        }
        Ok(index.downgrade())
    }

    /// Packs rows into segments in the background, several segments at a time.
    pub(super) fn pack(&self) {
        if self.packing.swap(true, Ordering::SeqCst) {
            return;
        }
        let store = self.clone();
        self.spawn(async move {
            // Closing the store clears the flag.
            while store.packing.load(Ordering::SeqCst) {
                let segments = store.take_segments().await;
                if segments.is_empty() {
                    break;
                }
                if let Err(error) = store.put_segments(&segments).await {
                    tracing::debug!(%error, "could not pack the index; rows are read one by one at the next start");
                    break;
                }
            }
            store.packing.store(false, Ordering::SeqCst);
        });
    }

    /// Returns the next segments to write.
    async fn take_segments(&self) -> Vec<Segment> {
        let mut index = self.index.write().await;
        let mut segments: Vec<Segment> =
            std::iter::from_fn(|| index.take_segment()).take(SEGMENTS_PER_TRANSACTION).collect();
        drop(index);
        if segments.is_empty() {
            let mut chunks = self.chunks.write().await;
            segments.extend(std::iter::from_fn(|| chunks.take_segment()).take(SEGMENTS_PER_TRANSACTION));
        }
        segments
    }

    async fn put_segments(&self, segments: &[Segment]) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        for segment in segments {
            index::write_segment(&mut transaction, segment).await?;
        }
        transaction.commit().await.or_store_error()
    }

    /// Builds a graph in the background, if the search needs one and it is missing.
    fn build_graph(&self, index: &Index, accuracy: Accuracy) {
        let Some((vectors, deletions)) = index.coded_vectors() else { return };
        if let Some(plan) = self.graphs.plan(&vectors, accuracy, deletions) {
            let store = self.clone();
            self.spawn(async move { store.graphs.make(plan, &store.readers, &store.graph_file).await });
        }
    }

    /// Computes the exact scores of candidates. A single connection reads all of them, because several would block each
    /// other in SQLite's memory management.
    async fn score(&self, candidates: &[Neighbor], vector: &[f32]) -> Result<Vec<Match>> {
        // In file order, so that no page is read twice.
        let mut ids: Vec<i64> = candidates.iter().map(|candidate| candidate.embedding).collect();
        ids.sort_unstable();
        sqlx::query(
            "SELECT subject_id, part, conversation_id, vector FROM json_each(?) AS wanted
             CROSS JOIN embeddings ON embeddings.id = wanted.value
             ORDER BY +embeddings.id",
        )
        .bind(to_json_list(ids.into_iter()))
        .try_map(|row: SqliteRow| {
            Ok(Match {
                message_id: MessageId::new(row.try_get("subject_id")?),
                conversation_id: ConversationId::new(row.try_get("conversation_id")?),
                score: index::cosine(vector, row.try_get("vector")?) - discount(&row)?,
            })
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    /// Reads the embeddings into memory in the background if there are few, so that later searches read fewer candidates.
    fn cache_vectors(&self, index: &Index) {
        // A program that runs a single prompt would not benefit.
        let searches = self.searches.fetch_add(1, Ordering::Relaxed);
        if searches < SEARCHES_BEFORE_CACHING || self.caching.load(Ordering::SeqCst) {
            return;
        }
        let Some(request) = index.vectors_to_cache() else { return };
        if self.caching.swap(true, Ordering::SeqCst) {
            return;
        }
        let store = self.clone();
        self.spawn(async move {
            let (model, ids, stop) = (&request.model, &request.ids, store.graphs.stopping());
            let result =
                index::read_vectors("embeddings", model, ids, request.dimensions, &store.readers, stop).await;
            match result {
                Ok(Some(bytes)) => store.index.write().await.cache_vectors(&request, bytes),
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(%error, "could not cache embeddings in memory; searches read them from disk")
                }
            }
            store.caching.store(false, Ordering::SeqCst);
        });
    }

    /// Returns the ids of the conversations that the filter's projects, program and author allow, or `None` if it has none.
    async fn conversations_in_scope(&self, filter: &Filter) -> Result<Option<Vec<i64>>> {
        // An index serves each of these conditions, but not their combination.
        let mut conditions = Vec::new();
        if filter.scope.is_some() {
            conditions.push("scope = ?1");
        }
        if filter.visible_to.is_some() {
            conditions.push("(scope = ?2 OR shared)");
        }
        match filter.program.as_deref() {
            Some(OWN_PROGRAM) => {
                conditions.push("id IN (SELECT conversation_id FROM exchanges WHERE program IS NULL)");
            }
            Some(_) => conditions.push("id IN (SELECT conversation_id FROM exchanges WHERE program = ?3)"),
            None => {}
        }
        if filter.author.is_some() {
            conditions.push("id IN (SELECT conversation_id FROM messages WHERE author = ?4)");
        }
        if conditions.is_empty() {
            return Ok(None);
        }
        let condition = conditions.join(" AND ");
        // A single text is ten times faster to read than one row per conversation.
        let statement = format!("SELECT group_concat(id, ' ') FROM conversations WHERE {condition}");
        let ids: Option<String> = sqlx::query_scalar(AssertSqlSafe(statement))
            .bind(&filter.scope)
            .bind(&filter.visible_to)
            .bind(&filter.program)
            .bind(&filter.author)
            .fetch_one(&self.readers)
            .await
            .or_store_error()?;
        Ok(Some(ids.unwrap_or_default().split_ascii_whitespace().filter_map(|id| id.parse().ok()).collect()))
    }

    /// Returns the ids of the messages that contain each word, separated by spaces and repeated for each occurrence. A
    /// single text is ten times faster to read than one row per occurrence.
    async fn messages_with(&self, words: &[String]) -> Result<Vec<String>> {
        let mut stems = Vec::new();
        for (position, found) in self.stems.find(words).await?.into_iter().enumerate() {
            stems.extend(found.into_iter().map(|stem| (position, stem)));
        }
        let wanted: Vec<&str> = stems.iter().map(|(_, stem)| stem.as_str()).collect();
        // One query for all of them, because several at once would open connections, each of which reads the schema.
        let lists: Vec<Option<String>> = sqlx::query_scalar(
            "SELECT (SELECT group_concat(doc, ' ') FROM _message_words WHERE term = wanted.value)
             FROM json_each(?) AS wanted ORDER BY wanted.key",
        )
        .bind(serde_json::to_string(&wanted).map_err(|error| StoreError::Other(error.into()))?)
        .fetch_all(&self.readers)
        .await
        .or_store_error()?;
        let mut ids = vec![String::new(); words.len()];
        for ((position, _), list) in stems.iter().zip(lists) {
            ids[*position].push_str(list.as_deref().unwrap_or_default());
            ids[*position].push(' ');
        }
        Ok(ids)
    }
}

/// Returns what is subtracted from the similarity of a part.
fn discount(row: &SqliteRow) -> Result<f64, sqlx::Error> {
    Ok(if row.try_get::<i64, _>("part")? > 0 { LATER_PART_DISCOUNT } else { 0.0 })
}

/// Sorts matches by score, newer ones first among equals, and keeps the first `limit` messages, each with its best part.
fn sort_and_limit(mut matches: Vec<Match>, limit: usize) -> Vec<Match> {
    matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.message_id.cmp(&a.message_id)));
    let mut seen = HashSet::new();
    matches.retain(|found| seen.insert(found.message_id));
    matches.truncate(limit);
    matches
}
