//! SQL for documents and their chunks.

use std::collections::HashMap;

use async_trait::async_trait;
use futures::future::try_join_all;
use memoir_core::{Chunk, ChunkId, Document, DocumentId, Subject, SubjectKind, Timestamp, WorkerKind};
use memoir_store::{
    ChunkMatch, ChunkSearch, ChunkSpan, ChunkVectors, Chunker, ChunksWithWord, DocumentFilter,
    DocumentUpdate, Documents, NewDocument, NewRedaction, Result,
};
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection, sqlite::SqliteRow};

use super::{
    SqliteStore,
    deletion::collect_document_texts,
    document_rows::{DOCUMENTS, IS_VISIBLE, read_document},
    embeddings::delete_other_dimensions,
    error::SqlResultExt as _,
    files::remove_derived_file,
    index::{self, VectorSpace},
    jobs::complete_job,
    quotations::delete_quotations_of_documents,
    redactions::{Source, insert_redactions},
    rows::{to_json_list, to_signed},
};

#[async_trait]
impl Documents for SqliteStore {
    async fn put_document(
        &self,
        new: &NewDocument,
        chunk: &Chunker,
        now: Timestamp,
    ) -> Result<DocumentUpdate> {
        self.store_document(new, &[], chunk, now).await
    }

    async fn documents(&self) -> Result<Vec<Document>> {
        self.documents_where("TRUE ORDER BY date DESC, id DESC", &[]).await
    }

    async fn is_from_other_project(&self, id: DocumentId, scope: &str) -> Result<bool> {
        sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM post_sources JOIN conversations ON conversations.id = conversation_id
                            WHERE document_id = ?1 AND scope <> ?2)",
        )
        .bind(id.get())
        .bind(scope)
        .fetch_one(&self.readers)
        .await
        .or_store_error()
    }

    async fn is_document_visible(&self, id: DocumentId, project: &str) -> Result<bool> {
        let query = format!("SELECT EXISTS (SELECT 1 FROM documents WHERE id = ?2 AND {IS_VISIBLE})");
        sqlx::query_scalar(AssertSqlSafe(query))
            .bind(project)
            .bind(id.get())
            .fetch_one(&self.readers)
            .await
            .or_store_error()
    }

    async fn set_document_project(&self, id: DocumentId, project: &str) -> Result<()> {
        sqlx::query("UPDATE documents SET project = ? WHERE id = ?")
            .bind(project)
            .bind(id.get())
            .execute(self.writer().await?)
            .await
            .map(drop)
            .or_store_error()
    }

    async fn set_document_shared(&self, id: DocumentId, is_shared: bool) -> Result<bool> {
        let result = sqlx::query("UPDATE documents SET shared = ? WHERE id = ?")
            .bind(is_shared)
            .bind(id.get())
            .execute(self.writer().await?)
            .await
            .or_store_error()?;
        Ok(result.rows_affected() == 1)
    }

    async fn document(&self, name: &str) -> Result<Option<Document>> {
        // A slug takes precedence over an id.
        let candidates = self
            .documents_where("slug = ?1 OR id = CAST(?1 AS INTEGER) ORDER BY slug = ?1 DESC LIMIT 1", &[name])
            .await?;
        // The cast ignores text after the digits, so compare the id exactly.
        let is_match = |document: &Document| document.slug == name || document.id.to_string() == name;
        Ok(candidates.into_iter().find(is_match))
    }

    async fn documents_like(&self, hash: &str, source: &str) -> Result<Vec<Document>> {
        self.documents_where("hash = ?1 OR source = ?2 ORDER BY id", &[hash, source]).await
    }

    async fn documents_by_id(&self, ids: &[DocumentId]) -> Result<Vec<Document>> {
        let ids = to_json_list(ids.iter().map(|id| id.get()));
        self.documents_where("id IN (SELECT value FROM json_each(?1))", &[&ids]).await
    }

    async fn move_document(&self, id: DocumentId, source: &str) -> Result<()> {
        sqlx::query("UPDATE documents SET source = ?, kind = 'file', project = NULL WHERE id = ?")
            .bind(source)
            .bind(id.get())
            .execute(self.writer().await?)
            .await
            .map(drop)
            .or_store_error()
    }

    async fn document_chunks(&self, id: DocumentId) -> Result<Vec<Chunk>> {
        sqlx::query("SELECT * FROM chunks WHERE document_id = ? ORDER BY position")
            .bind(id.get())
            .try_map(read_chunk)
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Chunk>> {
        sqlx::query("SELECT * FROM chunks WHERE id IN (SELECT value FROM json_each(?))")
            .bind(to_json_list(ids.iter().map(|id| id.get())))
            .try_map(read_chunk)
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn delete_document(&self, id: DocumentId) -> Result<bool> {
        let mut transaction = self.begin_write().await?;
        let ids = to_json_list(std::iter::once(id.get()));
        let texts = collect_document_texts(&mut transaction, &ids).await?;
        delete_quotations_of_documents(&mut transaction, &ids).await?;
        let result = sqlx::query("DELETE FROM documents WHERE id = ?")
            .bind(id.get())
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        let remaining: i64 = sqlx::query_scalar("SELECT count(*) FROM (SELECT 1 FROM chunks LIMIT 1)")
            .fetch_one(&mut *transaction)
            .await
            .or_store_error()?;
        // If a concurrent reader prevents the erasure, the next process to open the store completes it.
        self.commit_without_trace(transaction, texts).await?;
        if remaining == 0 {
            // The graph refers to embeddings that no longer exist.
            remove_derived_file(&self.chunk_graph_file);
        }
        Ok(result.rows_affected() > 0)
    }

    async fn unembedded_chunk_count(&self, id: DocumentId, model: &str) -> Result<u64> {
        let count: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM chunks WHERE document_id = ?1
               AND NOT EXISTS (SELECT 1 FROM chunk_embeddings WHERE model = ?2 AND chunk_id = chunks.id)",
        )
        .bind(id.get())
        .bind(model)
        .fetch_one(&self.readers)
        .await
        .or_store_error()?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    async fn delete_chunk_vectors(&self, id: DocumentId) -> Result<u64> {
        let mut transaction = self.begin_write().await?;
        let result = sqlx::query(
            "DELETE FROM chunk_embeddings WHERE chunk_id IN (SELECT id FROM chunks WHERE document_id = ?)",
        )
        .bind(id.get())
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        // Failed jobs are retried too.
        sqlx::query(
            "DELETE FROM jobs WHERE subject_kind = 'chunk'
               AND subject_id IN (SELECT id FROM chunks WHERE document_id = ?)",
        )
        .bind(id.get())
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        transaction.commit().await.or_store_error()?;
        Ok(result.rows_affected())
    }

    async fn put_chunk_vectors(&self, model: &str, vectors: &[ChunkVectors]) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        let first = vectors.iter().flat_map(|chunk| &chunk.parts).next();
        if let Some((_, vector)) = first {
            delete_other_dimensions(&mut transaction, model, vector.len()).await?;
        }
        for ChunkVectors { chunk_id, parts } in vectors {
            for (part, (span, vector)) in (0_i64..).zip(parts) {
                sqlx::query(
                    "INSERT INTO chunk_embeddings (chunk_id, part, first, past, model, dimensions, vector)
                     SELECT id, ?1, ?2, ?3, ?4, ?5, ?6 FROM chunks WHERE id = ?7 ON CONFLICT DO NOTHING",
                )
                .bind(part)
                .bind(to_signed(span.start as u64))
                .bind(to_signed(span.end as u64))
                .bind(model)
                .bind(to_signed(vector.len() as u64))
                .bind(index::encode_vector(vector))
                .bind(chunk_id.get())
                .execute(&mut *transaction)
                .await
                .or_store_error()?;
            }
            let subject = Subject::new(SubjectKind::Chunk, chunk_id.get());
            complete_job(&mut transaction, WorkerKind::EmbeddingGenerator, subject).await?;
        }
        transaction.commit().await.or_store_error()
    }

    async fn nearest_chunks(&self, search: &ChunkSearch<'_>) -> Result<Vec<ChunkMatch>> {
        if search.vector.is_empty() || search.limit == 0 {
            return Ok(Vec::new());
        }
        let space = VectorSpace { model: search.model, dimensions: search.vector.len() };
        let allowed = self.allowed_documents(search.filter).await?;
        let ids = {
            let chunks = self.chunk_index(space).await?;
            let ids = chunks.nearest(search, allowed.as_ref(), &self.chunk_graphs);
            if let Some((vectors, deletions)) = chunks.coded_vectors()
                && let Some(plan) = self.chunk_graphs.plan(&vectors, search.effort.accuracy, deletions)
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
        // The highest id approximates the number of chunks without counting them.
        let total: i64 = sqlx::query_scalar("SELECT coalesce(max(id), 0) FROM chunks")
            .fetch_one(&self.readers)
            .await
            .or_store_error()?;
        if total == 0 {
            return Ok((vec![Some(Vec::new()); words.len()], 0));
        }
        let allowed = match self.allowed_documents(filter).await? {
            Some(documents) => Some(self.chunks_in(&documents).await?),
            None => None,
        };
        let mut matches = try_join_all(words.iter().map(|word| self.chunks_with(word))).await?;
        if let Some(allowed) = allowed {
            matches
                .iter_mut()
                .flatten()
                .for_each(|chunks| chunks.retain(|(id, _)| allowed.contains(&id.get())));
        }
        Ok((matches, u64::try_from(total).unwrap_or(0)))
    }
}

impl SqliteStore {
    /// Stores a document and records its redactions, in one transaction.
    pub(super) async fn store_document(
        &self,
        new: &NewDocument,
        redactions: &[NewRedaction],
        chunk: &Chunker,
        now: Timestamp,
    ) -> Result<DocumentUpdate> {
        // Splitting takes time, so it happens before the transaction.
        let spans = chunk(&new.text);
        let mut transaction = self.begin_write().await?;
        let existing: Option<(i64, String)> =
            sqlx::query_as("SELECT id, slug FROM documents WHERE source = ?")
                .bind(&new.source)
                .fetch_optional(&mut *transaction)
                .await
                .or_store_error()?;
        let slug = match &existing {
            // A document keeps the number in its slug.
            Some((_, slug)) if slug.strip_prefix(new.slug.as_str()).is_some_and(is_number_suffix) => {
                slug.clone()
            }
            _ => find_free_slug(&mut transaction, &new.slug, existing.as_ref().map(|(id, _)| *id)).await?,
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
        Ok(DocumentUpdate { id: DocumentId::new(id), added, deleted })
    }

    async fn documents_where(&self, condition: &'static str, values: &[&str]) -> Result<Vec<Document>> {
        let statement = AssertSqlSafe(format!("{DOCUMENTS} WHERE {condition}"));
        let query = values.iter().fold(sqlx::query(statement), |query, value| query.bind(*value));
        query.try_map(read_document).fetch_all(&self.readers).await.or_store_error()
    }
}

/// Returns whether this is a suffix that distinguishes slugs, such as `-2`.
fn is_number_suffix(suffix: &str) -> bool {
    suffix.strip_prefix('-').is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Returns a slug that no document other than `own` has.
async fn find_free_slug(connection: &mut SqliteConnection, slug: &str, own: Option<i64>) -> Result<String> {
    // Slugs with a number sort between "name-" and "name.", because the period follows the hyphen in ASCII.
    let (is_taken, highest): (bool, Option<i64>) = sqlx::query_as(
        "SELECT EXISTS (SELECT 1 FROM documents WHERE slug = ?1 AND id IS NOT ?2),
                (SELECT max(CAST(substr(slug, length(?1) + 2) AS INTEGER)) FROM documents
                 WHERE slug >= ?1 || '-' AND slug < ?1 || '.' AND id IS NOT ?2)",
    )
    .bind(slug)
    .bind(own)
    .fetch_one(connection)
    .await
    .or_store_error()?;
    Ok(if is_taken { format!("{slug}-{}", highest.unwrap_or(0).max(1) + 1) } else { slug.to_owned() })
}

/// Updates the chunks of a document. Chunks with unchanged text keep their ids and embeddings. Returns the number of
/// chunks added and deleted.
async fn replace_chunks(
    connection: &mut SqliteConnection,
    document: i64,
    text: &str,
    spans: &[ChunkSpan],
) -> Result<(u64, u64)> {
    let rows: Vec<(i64, String)> = sqlx::query_as("SELECT id, text FROM chunks WHERE document_id = ?")
        .bind(document)
        .fetch_all(&mut *connection)
        .await
        .or_store_error()?;
    let mut old_chunks: HashMap<String, Vec<i64>> =
        rows.into_iter().fold(HashMap::new(), |mut ids, (id, text)| {
            ids.entry(text).or_default().push(id);
            ids
        });
    let mut added = 0;
    for (position, span) in (0_i64..).zip(spans) {
        let text = &text[span.new.start - span.overlap..span.new.end];
        let unchanged = old_chunks.get_mut(text).and_then(Vec::pop);
        let statement = match unchanged {
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
            .bind(to_signed(span.overlap as u64))
            .bind(to_signed(span.tokens));
        if let Some(id) = unchanged {
            query = query.bind(id);
        }
        query.execute(&mut *connection).await.or_store_error()?;
    }
    let obsolete: Vec<i64> = old_chunks.into_values().flatten().collect();
    sqlx::query("DELETE FROM chunks WHERE id IN (SELECT value FROM json_each(?))")
        .bind(to_json_list(obsolete.iter().copied()))
        .execute(&mut *connection)
        .await
        .or_store_error()?;
    Ok((added, obsolete.len() as u64))
}

fn read_chunk(row: SqliteRow) -> Result<Chunk, sqlx::Error> {
    Ok(Chunk {
        id: ChunkId::new(row.try_get("id")?),
        document_id: DocumentId::new(row.try_get("document_id")?),
        position: row.try_get("position")?,
        text: row.try_get("text")?,
        overlap: usize::try_from(row.try_get::<i64, _>("overlap")?).unwrap_or(0),
        tokens: row.try_get("tokens")?,
    })
}
