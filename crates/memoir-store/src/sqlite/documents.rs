//! SQL of documents and their chunks.

use std::{collections::HashMap, ops::Range};

use async_trait::async_trait;
use memoir_core::{
    Chunk, ChunkId, Document, DocumentId, DocumentKind, Subject, SubjectKind, Timestamp, WorkerKind,
};
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection, sqlite::SqliteRow};

use super::{
    SqliteStore,
    clean::Findings,
    embeddings::forget_other_lengths,
    error::store_error,
    index::{self, Which},
    jobs::done,
    rows::{list_of, signed},
};
use crate::{
    ChunkMatch, ChunkSearch, ChunkSpan, ChunkVectors, Chunker, ChunksWithWord, Documents, Filed, NewDocument,
    Result,
};

/// What is told of a document.
const DOCUMENTS: &str = "SELECT documents.*,
        (SELECT count(*) FROM chunks WHERE document_id = documents.id) AS chunks,
        (SELECT coalesce(sum(tokens), 0) FROM chunks WHERE document_id = documents.id) AS tokens
     FROM documents";

/// A word that occurs more often than this tells nothing about any one chunk.
const COMMON: u32 = 50_000;

#[async_trait]
impl Documents for SqliteStore {
    async fn put_document(&self, new: &NewDocument, chunk: &Chunker, now: Timestamp) -> Result<Filed> {
        let mut findings = Findings::default();
        let text = findings.clean("document", &new.text);
        let title = findings.clean("document", &new.title);
        // The transaction is short: everything that takes time comes before it.
        let spans = chunk(&text);
        let mut transaction = self.begin_write().await?;
        let known: Option<(i64, String)> = sqlx::query_as("SELECT id, slug FROM documents WHERE source = ?")
            .bind(&new.source)
            .fetch_optional(&mut *transaction)
            .await
            .map_err(store_error)?;
        let slug = free_slug(&mut transaction, &new.slug, known.as_ref().map(|(id, _)| *id)).await?;
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO documents (slug, title, date, tags, kind, source, hash, created, updated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)
             ON CONFLICT (source) DO UPDATE SET slug = ?1, title = ?2, date = ?3, tags = ?4, kind = ?5, hash = ?7,
                                               updated = ?8
             RETURNING id",
        )
        .bind(slug)
        .bind(title.as_ref())
        .bind(&new.date)
        .bind(serde_json::Value::from(new.tags.clone()).to_string())
        .bind(new.kind.as_str())
        .bind(&new.source)
        .bind(&new.hash)
        .bind(now.as_millis())
        .fetch_one(&mut *transaction)
        .await
        .map_err(store_error)?;
        let (added, deleted) = replace_chunks(&mut transaction, id, &text, &spans).await?;
        for conversation in &new.written_from {
            sqlx::query(
                "INSERT INTO post_sources (document_id, conversation_id)
                 SELECT ?, id FROM conversations WHERE id = ? ON CONFLICT DO NOTHING",
            )
            .bind(id)
            .bind(conversation.get())
            .execute(&mut *transaction)
            .await
            .map_err(store_error)?;
        }
        findings.note(&mut transaction, None, now).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(Filed { id: DocumentId::new(id), added, deleted })
    }

    async fn documents(&self) -> Result<Vec<Document>> {
        self.documents_where("TRUE ORDER BY date DESC, id DESC", &[]).await
    }

    async fn document(&self, name: &str) -> Result<Option<Document>> {
        // A name wins over a number.
        let found = self
            .documents_where("slug = ?1 OR id = CAST(?1 AS INTEGER) ORDER BY slug = ?1 DESC LIMIT 1", &[name])
            .await?;
        let is_it = |found: &Document| found.slug == name || found.id.to_string() == name;
        Ok(found.into_iter().find(is_it))
    }

    async fn documents_like(&self, hash: &str, source: &str) -> Result<Vec<Document>> {
        self.documents_where("hash = ?1 OR source = ?2 ORDER BY id", &[hash, source]).await
    }

    async fn documents_by_id(&self, ids: &[DocumentId]) -> Result<Vec<Document>> {
        let ids = list_of(ids.iter().map(|id| id.get()));
        self.documents_where("id IN (SELECT value FROM json_each(?1))", &[&ids]).await
    }

    async fn move_document(&self, id: DocumentId, source: &str) -> Result<()> {
        sqlx::query("UPDATE documents SET source = ? WHERE id = ?")
            .bind(source)
            .bind(id.get())
            .execute(&self.writer)
            .await
            .map(drop)
            .map_err(store_error)
    }

    async fn chunks_of(&self, id: DocumentId) -> Result<Vec<Chunk>> {
        sqlx::query("SELECT * FROM chunks WHERE document_id = ? ORDER BY position")
            .bind(id.get())
            .try_map(chunk_of)
            .fetch_all(&self.readers)
            .await
            .map_err(store_error)
    }

    async fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Chunk>> {
        sqlx::query("SELECT * FROM chunks WHERE id IN (SELECT value FROM json_each(?))")
            .bind(list_of(ids.iter().map(|id| id.get())))
            .try_map(chunk_of)
            .fetch_all(&self.readers)
            .await
            .map_err(store_error)
    }

    async fn delete_document(&self, id: DocumentId) -> Result<bool> {
        let mut transaction = self.begin_write().await?;
        let deleted = sqlx::query("DELETE FROM documents WHERE id = ?")
            .bind(id.get())
            .execute(&mut *transaction)
            .await
            .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(deleted.rows_affected() > 0)
    }

    async fn delete_chunk_vectors(&self, id: DocumentId) -> Result<u64> {
        let deleted = sqlx::query(
            "DELETE FROM chunk_embeddings WHERE chunk_id IN (SELECT id FROM chunks WHERE document_id = ?)",
        )
        .bind(id.get())
        .execute(&self.writer)
        .await
        .map_err(store_error)?;
        Ok(deleted.rows_affected())
    }

    async fn put_chunk_vectors(&self, model: &str, vectors: &[ChunkVectors]) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        let first = vectors.iter().flat_map(|chunk| &chunk.parts).next();
        if let Some((_, vector)) = first {
            forget_other_lengths(&mut transaction, model, vector.len()).await?;
        }
        for ChunkVectors { chunk_id, parts } in vectors {
            for (number, (span, vector)) in (0_i64..).zip(parts) {
                sqlx::query(
                    "INSERT INTO chunk_embeddings (chunk_id, part, first, past, model, dimensions, vector)
                     SELECT id, ?1, ?2, ?3, ?4, ?5, ?6 FROM chunks WHERE id = ?7 ON CONFLICT DO NOTHING",
                )
                .bind(number)
                .bind(signed(span.start as u64))
                .bind(signed(span.end as u64))
                .bind(model)
                .bind(signed(vector.len() as u64))
                .bind(index::bytes(vector))
                .bind(chunk_id.get())
                .execute(&mut *transaction)
                .await
                .map_err(store_error)?;
            }
            let subject = Subject::new(SubjectKind::Chunk, chunk_id.get());
            done(&mut transaction, WorkerKind::EmbeddingGenerator, subject).await?;
        }
        transaction.commit().await.map_err(store_error)
    }

    async fn nearest_chunks(&self, search: &ChunkSearch<'_>) -> Result<Vec<ChunkMatch>> {
        if search.vector.is_empty() || search.limit == 0 {
            return Ok(Vec::new());
        }
        let which = Which { model: search.model, dimensions: search.vector.len() };
        let ids = {
            let mut chunks = self.chunks.write().await;
            chunks.refresh(&self.readers, which).await?;
            if chunks.is_worth_packing() {
                self.pack();
            }
            let chunks = chunks.downgrade();
            let ids = chunks.nearest(search, &self.chunk_graphs);
            if let Some((coded, deletions)) = chunks.coded()
                && let Some(plan) = self.chunk_graphs.plan(&coded, search.mode, deletions)
            {
                let store = self.clone();
                self.spawn(async move {
                    store.chunk_graphs.make(plan, &store.readers, &store.chunk_graph_file).await;
                });
            }
            ids
        };
        self.measure_parts(&ids, search).await
    }

    async fn chunks_with_words(&self, words: &[String]) -> Result<(Vec<ChunksWithWord>, u64)> {
        let all: i64 = sqlx::query_scalar("SELECT count(*) FROM chunks")
            .fetch_one(&self.readers)
            .await
            .map_err(store_error)?;
        let mut found = Vec::with_capacity(words.len());
        for word in words.iter().filter(|_| all > 0) {
            let mut counts: HashMap<i64, u32> = HashMap::new();
            for stem in self.stems.of(word).await? {
                // As one text: a row each would cost ten times as much.
                let ids: Option<String> = sqlx::query_scalar(
                    "SELECT group_concat(doc, ' ') FROM (SELECT doc FROM _chunk_words WHERE term = ? LIMIT ?)",
                )
                .bind(stem)
                .bind(COMMON)
                .fetch_one(&self.readers)
                .await
                .map_err(store_error)?;
                for id in ids.as_deref().unwrap_or_default().split(' ').filter_map(|id| id.parse().ok()) {
                    *counts.entry(id).or_default() += 1;
                }
            }
            if counts.values().sum::<u32>() >= COMMON {
                counts.clear();
            }
            found.push(counts.into_iter().map(|(id, count)| (ChunkId::new(id), count)).collect());
        }
        Ok((found, u64::try_from(all).unwrap_or(0)))
    }
}

impl SqliteStore {
    async fn documents_where(&self, condition: &'static str, values: &[&str]) -> Result<Vec<Document>> {
        let statement = AssertSqlSafe(format!("{DOCUMENTS} WHERE {condition}"));
        let query = values.iter().fold(sqlx::query(statement), |query, value| query.bind(*value));
        query.try_map(document_of).fetch_all(&self.readers).await.map_err(store_error)
    }

    /// How near some parts are, exactly; each chunk by its best.
    async fn measure_parts(&self, ids: &[i64], search: &ChunkSearch<'_>) -> Result<Vec<ChunkMatch>> {
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
        .map_err(store_error)?;
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

/// A slug that no other document has.
async fn free_slug(connection: &mut SqliteConnection, wanted: &str, own: Option<i64>) -> Result<String> {
    let mut number = 1_u32;
    loop {
        let slug = if number == 1 { wanted.to_owned() } else { format!("{wanted}-{number}") };
        let taken: Option<i64> =
            sqlx::query_scalar("SELECT id FROM documents WHERE slug = ? AND id IS NOT ?")
                .bind(&slug)
                .bind(own)
                .fetch_optional(&mut *connection)
                .await
                .map_err(store_error)?;
        match taken {
            Some(_) => number += 1,
            None => return Ok(slug),
        }
    }
}

/// Brings the chunks of a document up to date: what says the same as before stays, with its vectors. Says how many were added
/// and deleted.
async fn replace_chunks(
    connection: &mut SqliteConnection,
    document: i64,
    text: &str,
    spans: &[ChunkSpan],
) -> Result<(u64, u64)> {
    let before: Vec<(i64, String)> = sqlx::query_as("SELECT id, text FROM chunks WHERE document_id = ?")
        .bind(document)
        .fetch_all(&mut *connection)
        .await
        .map_err(store_error)?;
    let mut before: HashMap<String, Vec<i64>> =
        before.into_iter().fold(HashMap::new(), |mut known, (id, text)| {
            known.entry(text).or_default().push(id);
            known
        });
    let mut added = 0;
    for (position, span) in (0_i64..).zip(spans) {
        let text = &text[span.new.start - span.overlap..span.new.end];
        let kept = before.get_mut(text).and_then(Vec::pop);
        let statement = match kept {
            Some(_) => "UPDATE chunks SET position = ?2, overlap = ?4, tokens = ?5 WHERE id = ?6",
            None => {
                added += 1;
                "INSERT INTO chunks (document_id, position, text, overlap, tokens) VALUES (?1, ?2, ?3, ?4, ?5)"
            }
        };
        let mut query = sqlx::query(statement)
            .bind(document)
            .bind(position)
            .bind(text)
            .bind(signed(span.overlap as u64))
            .bind(signed(span.tokens));
        if let Some(id) = kept {
            query = query.bind(id);
        }
        query.execute(&mut *connection).await.map_err(store_error)?;
    }
    let gone: Vec<i64> = before.into_values().flatten().collect();
    sqlx::query("DELETE FROM chunks WHERE id IN (SELECT value FROM json_each(?))")
        .bind(list_of(gone.iter().copied()))
        .execute(&mut *connection)
        .await
        .map_err(store_error)?;
    Ok((added, gone.len() as u64))
}

fn document_of(row: SqliteRow) -> Result<Document, sqlx::Error> {
    Ok(Document {
        id: DocumentId::new(row.try_get("id")?),
        slug: row.try_get("slug")?,
        title: row.try_get("title")?,
        date: row.try_get("date")?,
        tags: serde_json::from_str(row.try_get("tags")?)
            .map_err(|error| sqlx::Error::Decode(Box::new(error)))?,
        kind: match row.try_get("kind")? {
            "post" => DocumentKind::Post,
            _ => DocumentKind::File,
        },
        source: row.try_get("source")?,
        hash: row.try_get("hash")?,
        chunks: row.try_get("chunks")?,
        tokens: row.try_get("tokens")?,
        updated: Timestamp::from_millis(row.try_get("updated")?),
    })
}

fn chunk_of(row: SqliteRow) -> Result<Chunk, sqlx::Error> {
    Ok(Chunk {
        id: ChunkId::new(row.try_get("id")?),
        document_id: DocumentId::new(row.try_get("document_id")?),
        position: row.try_get("position")?,
        text: row.try_get("text")?,
        overlap: usize::try_from(row.try_get::<i64, _>("overlap")?).unwrap_or(0),
        tokens: row.try_get("tokens")?,
    })
}

fn range(row: &SqliteRow) -> Result<Range<usize>, sqlx::Error> {
    let place = |name| Ok::<_, sqlx::Error>(usize::try_from(row.try_get::<i64, _>(name)?).unwrap_or(0));
    Ok(place("first")?..place("past")?)
}
