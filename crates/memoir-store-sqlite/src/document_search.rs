//! SQL that finds chunks of documents by meaning and by keyword.

use std::collections::{HashMap, HashSet};

use memoir_core::{ChunkId, DocumentId};
use memoir_store::{ChunkMatch, ChunkSearch, ChunksWithWord, DocumentFilter, Result};
use sqlx::{AssertSqlSafe, Row as _, sqlite::SqliteRow};
use tokio::sync::RwLockReadGuard;

use super::{
    SqliteStore,
    document_rows::IS_VISIBLE,
    error::SqlResultExt as _,
    index::{self, Chunks, VectorSpace},
    rows::{read_range, to_json_list},
};

/// Number of occurrences from which a word is too common to distinguish chunks.
const COMMON_COUNT: u32 = 10_000;

impl SqliteStore {
    /// Returns the index of chunks, up to date. Concurrent searches do not block each other.
    pub(super) async fn chunk_index(&self, space: VectorSpace<'_>) -> Result<RwLockReadGuard<'_, Chunks>> {
        {
            let chunks = self.chunks.read().await;
            if chunks.is_current(&self.readers, space).await? {
                return Ok(chunks);
            }
        }
        let mut chunks = self.chunks.write().await;
        chunks.refresh(&self.readers, space).await?;
        if chunks.is_worth_packing() {
            self.pack();
        }
        Ok(chunks.downgrade())
    }

    /// Returns the ids of the documents that a filter allows, or `None` if it allows all.
    pub(super) async fn allowed_documents(&self, filter: &DocumentFilter) -> Result<Option<HashSet<i64>>> {
        if filter.allows_all() {
            return Ok(None);
        }
        let query = format!(
            "SELECT id FROM documents
             WHERE date >= coalesce(?2, date) AND (?3 IS NULL OR date < ?3)
               AND (?4 IS NULL OR NOT EXISTS (
                   SELECT 1 FROM post_sources JOIN conversations ON conversations.id = conversation_id
                   WHERE document_id = documents.id AND scope <> ?4))
               AND (?1 IS NULL OR {IS_VISIBLE})"
        );
        let ids: Vec<i64> = sqlx::query_scalar(AssertSqlSafe(query))
            .bind(filter.visible_to.as_deref())
            .bind(filter.since.as_deref())
            .bind(filter.until.as_deref())
            .bind(filter.scope.as_deref())
            .fetch_all(&self.readers)
            .await
            .or_store_error()?;
        Ok(Some(ids.into_iter().collect()))
    }

    /// Returns the ids of the chunks of these documents.
    pub(super) async fn chunks_in(&self, documents: &HashSet<i64>) -> Result<HashSet<i64>> {
        let ids: Vec<i64> =
            sqlx::query_scalar("SELECT id FROM chunks WHERE document_id IN (SELECT value FROM json_each(?))")
                .bind(to_json_list(documents.iter().copied()))
                .fetch_all(&self.readers)
                .await
                .or_store_error()?;
        Ok(ids.into_iter().collect())
    }

    /// Returns the chunks that contain a word.
    pub(super) async fn chunks_with(&self, word: &str) -> Result<ChunksWithWord> {
        let mut counts: HashMap<i64, u32> = HashMap::new();
        for stem in self.stems.find(&[word.to_owned()]).await?.concat() {
            // A single text is ten times faster to read than one row per chunk.
            let ids: Option<String> = sqlx::query_scalar(
                "SELECT group_concat(doc, ' ') FROM (SELECT doc FROM _chunk_words WHERE term = ? LIMIT ?)",
            )
            .bind(stem)
            .bind(COMMON_COUNT)
            .fetch_one(&self.readers)
            .await
            .or_store_error()?;
            for id in ids.as_deref().unwrap_or_default().split(' ').filter_map(|id| id.parse().ok()) {
                *counts.entry(id).or_default() += 1;
            }
        }
        let is_common = counts.values().sum::<u32>() >= COMMON_COUNT;
        Ok((!is_common).then(|| counts.into_iter().map(|(id, count)| (ChunkId::new(id), count)).collect()))
    }

    /// Computes the exact scores of these parts. Returns the best part of each chunk, best chunk first.
    pub(super) async fn measure_parts(
        &self,
        ids: &[i64],
        search: &ChunkSearch<'_>,
    ) -> Result<Vec<ChunkMatch>> {
        let parts = sqlx::query(
            "SELECT chunk_id, document_id, first, past, vector FROM json_each(?) AS wanted
             CROSS JOIN chunk_embeddings ON chunk_embeddings.id = wanted.value
             JOIN chunks ON chunks.id = chunk_id",
        )
        .bind(to_json_list(ids.iter().copied()))
        .try_map(|row: SqliteRow| {
            let bytes = row.try_get("vector")?;
            Ok(ChunkMatch {
                chunk_id: ChunkId::new(row.try_get("chunk_id")?),
                document_id: DocumentId::new(row.try_get("document_id")?),
                part: read_range(&row)?,
                score: index::cosine(search.vector, bytes),
                vector: index::decode_vector(bytes),
            })
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()?;
        let mut best: HashMap<ChunkId, ChunkMatch> = HashMap::new();
        for part in parts {
            best.entry(part.chunk_id)
                .and_modify(|best| {
                    if part.score > best.score {
                        best.clone_from(&part);
                    }
                })
                .or_insert(part);
        }
        let mut best: Vec<ChunkMatch> = best.into_values().collect();
        best.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk_id.cmp(&b.chunk_id)));
        best.truncate(search.limit);
        Ok(best)
    }
}
