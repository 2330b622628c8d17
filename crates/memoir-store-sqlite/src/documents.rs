//! SQL of documents and their chunks.

use std::collections::HashMap;

use async_trait::async_trait;
use futures::future::try_join_all;
use memoir_core::{Chunk, ChunkId, Document, DocumentId, Subject, SubjectKind, Timestamp, WorkerKind};
use memoir_store::{
    ChunkMatch, ChunkSearch, ChunkSpan, ChunkVectors, Chunker, ChunksWithWord, DocumentFilter, Documents,
    Filed, NewDocument, NewRedaction, Result,
};
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection, sqlite::SqliteRow};

use super::{
    SqliteStore,
    deletion::collect_document_texts,
    document_rows::{DOCUMENTS, document_of},
    embeddings::forget_other_lengths,
    error::SqlResultExt as _,
    files::remove_derived_file,
    index::{self, Which},
    jobs::done,
    quotations::delete_quotations_of_documents,
    redactions::{Source, insert_redactions},
    rows::{list_of, signed},
};

#[async_trait]
impl Documents for SqliteStore {
    async fn put_document(&self, new: &NewDocument, chunk: &Chunker, now: Timestamp) -> Result<Filed> {
        self.store_document(new, &[], chunk, now).await
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
        sqlx::query("UPDATE documents SET source = ?, kind = 'file' WHERE id = ?")
            .bind(source)
            .bind(id.get())
            .execute(&self.writer)
            .await
            .map(drop)
            .or_store_error()
    }

    async fn chunks_of(&self, id: DocumentId) -> Result<Vec<Chunk>> {
        sqlx::query("SELECT * FROM chunks WHERE document_id = ? ORDER BY position")
            .bind(id.get())
            .try_map(chunk_of)
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Chunk>> {
        sqlx::query("SELECT * FROM chunks WHERE id IN (SELECT value FROM json_each(?))")
            .bind(list_of(ids.iter().map(|id| id.get())))
            .try_map(chunk_of)
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn delete_document(&self, id: DocumentId) -> Result<bool> {
        let mut transaction = self.begin_write().await?;
        let gone = list_of(std::iter::once(id.get()));
        let texts = collect_document_texts(&mut transaction, &gone).await?;
        delete_quotations_of_documents(&mut transaction, &gone).await?;
        let deleted = sqlx::query("DELETE FROM documents WHERE id = ?")
            .bind(id.get())
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        let left: i64 = sqlx::query_scalar("SELECT count(*) FROM (SELECT 1 FROM chunks LIMIT 1)")
            .fetch_one(&mut *transaction)
            .await
            .or_store_error()?;
        // If someone reads at this moment, the next one who opens the memory does what is left to do.
        self.commit_without_trace(transaction, texts).await?;
        if left == 0 {
            // The graph links vectors that no longer exist.
            remove_derived_file(&self.chunk_graph_file);
        }
        Ok(deleted.rows_affected() > 0)
    }

    async fn delete_chunk_vectors(&self, id: DocumentId) -> Result<u64> {
        let mut transaction = self.begin_write().await?;
        let deleted = sqlx::query(
            "DELETE FROM chunk_embeddings WHERE chunk_id IN (SELECT id FROM chunks WHERE document_id = ?)",
        )
        .bind(id.get())
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        // What failed before is tried again, too.
        sqlx::query(
            "DELETE FROM jobs WHERE subject_kind = 'chunk'
               AND subject_id IN (SELECT id FROM chunks WHERE document_id = ?)",
        )
        .bind(id.get())
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        transaction.commit().await.or_store_error()?;
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
                .or_store_error()?;
            }
            let subject = Subject::new(SubjectKind::Chunk, chunk_id.get());
            done(&mut transaction, WorkerKind::EmbeddingGenerator, subject).await?;
        }
        transaction.commit().await.or_store_error()
    }

    async fn nearest_chunks(&self, search: &ChunkSearch<'_>) -> Result<Vec<ChunkMatch>> {
        if search.vector.is_empty() || search.limit == 0 {
            return Ok(Vec::new());
        }
        let which = Which { model: search.model, dimensions: search.vector.len() };
        let allowed = self.allowed_documents(search.filter).await?;
        let ids = {
            let chunks = self.chunk_index(which).await?;
            let ids = chunks.nearest(search, allowed.as_ref(), &self.chunk_graphs);
            if let Some((coded, deletions)) = chunks.coded()
                && let Some(plan) = self.chunk_graphs.plan(&coded, search.effort.accuracy, deletions)
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

    async fn chunks_with_words(
        &self,
        words: &[String],
        filter: &DocumentFilter,
    ) -> Result<(Vec<ChunksWithWord>, u64)> {
        // The last that was given out tells about how many there are, without counting.
        let all: i64 = sqlx::query_scalar("SELECT coalesce(max(id), 0) FROM chunks")
            .fetch_one(&self.readers)
            .await
            .or_store_error()?;
        if all == 0 {
            return Ok((vec![Some(Vec::new()); words.len()], 0));
        }
        let allowed = match self.allowed_documents(filter).await? {
            Some(documents) => Some(self.chunks_in(&documents).await?),
            None => None,
        };
        let mut found = try_join_all(words.iter().map(|word| self.chunks_with(word))).await?;
        if let Some(allowed) = allowed {
            found
                .iter_mut()
                .flatten()
                .for_each(|chunks| chunks.retain(|(id, _)| allowed.contains(&id.get())));
        }
        Ok((found, u64::try_from(all).unwrap_or(0)))
    }
}

impl SqliteStore {
    /// Stores a document and records what was removed from it, in one transaction.
    pub(super) async fn store_document(
        &self,
        new: &NewDocument,
        redactions: &[NewRedaction],
        chunk: &Chunker,
        now: Timestamp,
    ) -> Result<Filed> {
        // The transaction is short: everything that takes time comes before it.
        let spans = chunk(&new.text);
        let mut transaction = self.begin_write().await?;
        let known: Option<(i64, String)> = sqlx::query_as("SELECT id, slug FROM documents WHERE source = ?")
            .bind(&new.source)
            .fetch_optional(&mut *transaction)
            .await
            .or_store_error()?;
        let slug = match &known {
            // It keeps the number that it has.
            Some((_, own)) if own.strip_prefix(new.slug.as_str()).is_some_and(is_number) => own.clone(),
            _ => free_slug(&mut transaction, &new.slug, known.as_ref().map(|(id, _)| *id)).await?,
        };
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO documents (slug, title, date, tags, kind, source, hash, created, updated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)
             ON CONFLICT (source) DO UPDATE SET slug = ?1, title = ?2, date = ?3, tags = ?4, kind = ?5, hash = ?7,
                                               updated = ?8
             RETURNING id",
        )
        .bind(slug)
        .bind(&new.title)
        .bind(&new.date)
        .bind(serde_json::Value::from(new.tags.clone()).to_string())
        .bind(new.kind.as_str())
        .bind(&new.source)
        .bind(&new.hash)
        .bind(now.as_millis())
        .fetch_one(&mut *transaction)
        .await
        .or_store_error()?;
        let (added, deleted) = replace_chunks(&mut transaction, id, &new.text, &spans).await?;
        for conversation in &new.written_from {
            sqlx::query(
                "INSERT INTO post_sources (document_id, conversation_id)
                 SELECT ?, id FROM conversations WHERE id = ? ON CONFLICT DO NOTHING",
            )
            .bind(id)
            .bind(conversation.get())
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        }
        sqlx::query("DELETE FROM redactions WHERE document_id = ?")
            .bind(id)
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        insert_redactions(&mut transaction, Source::Document(DocumentId::new(id)), redactions, now).await?;
        transaction.commit().await.or_store_error()?;
        Ok(Filed { id: DocumentId::new(id), added, deleted })
    }

    async fn documents_where(&self, condition: &'static str, values: &[&str]) -> Result<Vec<Document>> {
        let statement = AssertSqlSafe(format!("{DOCUMENTS} WHERE {condition}"));
        let query = values.iter().fold(sqlx::query(statement), |query, value| query.bind(*value));
        query.try_map(document_of).fetch_all(&self.readers).await.or_store_error()
    }
}

/// Whether this is what makes a slug differ from another: `-2`.
fn is_number(rest: &str) -> bool {
    rest.strip_prefix('-').is_some_and(|number| number.parse::<u32>().is_ok())
}

/// A slug that no other document has.
async fn free_slug(connection: &mut SqliteConnection, wanted: &str, own: Option<i64>) -> Result<String> {
    // Those with a number stand between "name-" and "name.", which is the character after the dash.
    let (taken, highest): (bool, Option<i64>) = sqlx::query_as(
        "SELECT EXISTS (SELECT 1 FROM documents WHERE slug = ?1 AND id IS NOT ?2),
                (SELECT max(CAST(substr(slug, length(?1) + 2) AS INTEGER)) FROM documents
                 WHERE slug >= ?1 || '-' AND slug < ?1 || '.' AND id IS NOT ?2)",
    )
    .bind(wanted)
    .bind(own)
    .fetch_one(connection)
    .await
    .or_store_error()?;
    Ok(if taken { format!("{wanted}-{}", highest.unwrap_or(0).max(1) + 1) } else { wanted.to_owned() })
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
        .or_store_error()?;
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
        query.execute(&mut *connection).await.or_store_error()?;
    }
    let gone: Vec<i64> = before.into_values().flatten().collect();
    sqlx::query("DELETE FROM chunks WHERE id IN (SELECT value FROM json_each(?))")
        .bind(list_of(gone.iter().copied()))
        .execute(&mut *connection)
        .await
        .or_store_error()?;
    Ok((added, gone.len() as u64))
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
