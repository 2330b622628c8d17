//! SQL that finds chunks of documents by meaning and by words.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use memoir_core::{ChunkId, DocumentId};
use memoir_store::{ChunkMatch, ChunkSearch, ChunksWithWord, DocumentFilter, Result};
use sqlx::{Row as _, sqlite::SqliteRow};
use tokio::sync::RwLockReadGuard;

use super::{
    SqliteStore,
    error::SqlResultExt as _,
    index::{self, Chunks, Which},
    rows::list_of,
};

/// A word that occurs more often than this tells nothing about any one chunk.
const COMMON: u32 = 10_000;

impl SqliteStore {
    /// What is known of all chunks, brought up to date. Searches side by side do not wait for each other.
    pub(super) async fn chunk_index(&self, which: Which<'_>) -> Result<RwLockReadGuard<'_, Chunks>> {
        {
            let chunks = self.chunks.read().await;
            if chunks.is_current(&self.readers, which).await? {
                return Ok(chunks);
            }
        }
        let mut chunks = self.chunks.write().await;
        chunks.refresh(&self.readers, which).await?;
        if chunks.is_worth_packing() {
            self.pack();
        }
        Ok(chunks.downgrade())
    }

    /// The documents that a filter allows, if it refuses any.
    pub(super) async fn allowed_documents(&self, filter: &DocumentFilter) -> Result<Option<HashSet<i64>>> {
        if filter.allows_all() {
            return Ok(None);
        }
        let allowed: Vec<i64> = sqlx::query_scalar(
            "SELECT id FROM documents
             WHERE date >= coalesce(?1, date) AND (?2 IS NULL OR date < ?2)
               AND (?3 IS NULL OR NOT EXISTS (
                   SELECT 1 FROM post_sources JOIN conversations ON conversations.id = conversation_id
                   WHERE document_id = documents.id AND scope <> ?3))",
        )
        .bind(filter.since.as_deref())
        .bind(filter.until.as_deref())
        .bind(filter.scope.as_deref())
        .fetch_all(&self.readers)
        .await
        .or_store_error()?;
        Ok(Some(allowed.into_iter().collect()))
    }

    /// The chunks of some documents.
    pub(super) async fn chunks_in(&self, documents: &HashSet<i64>) -> Result<HashSet<i64>> {
        let ids: Vec<i64> =
            sqlx::query_scalar("SELECT id FROM chunks WHERE document_id IN (SELECT value FROM json_each(?))")
                .bind(list_of(documents.iter().copied()))
                .fetch_all(&self.readers)
                .await
                .or_store_error()?;
        Ok(ids.into_iter().collect())
    }

    /// The chunks that have a word.
    pub(super) async fn chunks_with(&self, word: &str) -> Result<ChunksWithWord> {
        let mut counts: HashMap<i64, u32> = HashMap::new();
        for stem in self.stems.find(word).await? {
            // As one text: a row each would cost ten times as much.
            let ids: Option<String> = sqlx::query_scalar(
                "SELECT group_concat(doc, ' ') FROM (SELECT doc FROM _chunk_words WHERE term = ? LIMIT ?)",
            )
            .bind(stem)
            .bind(COMMON)
            .fetch_one(&self.readers)
            .await
            .or_store_error()?;
            for id in ids.as_deref().unwrap_or_default().split(' ').filter_map(|id| id.parse().ok()) {
                *counts.entry(id).or_default() += 1;
            }
        }
        let is_common = counts.values().sum::<u32>() >= COMMON;
        Ok((!is_common).then(|| counts.into_iter().map(|(id, count)| (ChunkId::new(id), count)).collect()))
    }

    /// How near some parts are, exactly; each chunk by its best.
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
        .bind(list_of(ids.iter().copied()))
        .try_map(|row: SqliteRow| {
            let kept = row.try_get("vector")?;
            Ok(ChunkMatch {
                chunk_id: ChunkId::new(row.try_get("chunk_id")?),
                document_id: DocumentId::new(row.try_get("document_id")?),
                part: range(&row)?,
                score: index::cosine(search.vector, kept),
                vector: index::numbers(kept),
            })
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()?;
        let mut best: HashMap<ChunkId, ChunkMatch> = HashMap::new();
        for part in parts {
            let known = best.entry(part.chunk_id);
            known
                .and_modify(|known| {
                    if part.score > known.score {
                        known.clone_from(&part);
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

fn range(row: &SqliteRow) -> Result<Range<usize>, sqlx::Error> {
    let place = |name| Ok::<_, sqlx::Error>(usize::try_from(row.try_get::<i64, _>(name)?).unwrap_or(0));
    Ok(place("first")?..place("past")?)
}
