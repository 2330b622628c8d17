//! SQL for the three tables of embeddings: of messages, summaries and chunks.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, Subject, SubjectKind, WorkerKind};
use memoir_store::{
    EmbeddingCount, EmbeddingSelection, Embeddings, NewEmbedding, Result, StoreError, UnembeddedText,
};
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection, sqlite::SqliteRow};

use super::{
    SqliteStore,
    error::SqlResultExt as _,
    index::{self, VectorSpace},
    job_rows::read_subject,
    jobs::complete_job,
    rows::{to_json_list, to_signed},
};

#[async_trait]
impl Embeddings for SqliteStore {
    async fn unembedded(
        &self,
        embeddable: &EmbeddingSelection<'_>,
        limit: u32,
    ) -> Result<Vec<UnembeddedText>> {
        let messages = self.messages_without_vector(embeddable).await?;
        let newest = messages.into_iter().take(limit as usize);
        let subjects: Vec<Subject> = newest.map(|id| Subject::new(SubjectKind::Message, id)).collect();
        self.embeddable_texts(&subjects).await
    }

    async fn unembedded_in_exchange(
        &self,
        exchange: ExchangeId,
        embeddable: &EmbeddingSelection<'_>,
    ) -> Result<Vec<UnembeddedText>> {
        sqlx::query(
            "SELECT 'message' AS subject_kind, id AS subject_id, conversation_id, author, content AS text
             FROM messages
             WHERE exchange_id = ?1 AND redacted = 0 AND derived = 0 AND role <> 'tool' AND tokens >= ?2
               AND NOT EXISTS (SELECT 1 FROM embeddings
                               WHERE model = ?3 AND subject_kind = 'message' AND subject_id = messages.id)
             ORDER BY id",
        )
        .bind(exchange.get())
        .bind(embeddable.min_tokens)
        .bind(embeddable.model)
        .try_map(read_unembedded)
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    async fn embeddable_texts(&self, subjects: &[Subject]) -> Result<Vec<UnembeddedText>> {
        let mut texts = Vec::with_capacity(subjects.len());
        for kind in SubjectKind::ALL {
            let Some(rows) = rows_with_texts(kind) else { continue };
            let ids: Vec<i64> =
                subjects.iter().filter(|subject| subject.kind == kind).map(|subject| subject.id).collect();
            if ids.is_empty() {
                continue;
            }
            let texts_of_kind = sqlx::query(AssertSqlSafe(format!(
                "SELECT '{}' AS subject_kind, id AS subject_id, {rows} AND id IN (SELECT value FROM json_each(?))
                 ORDER BY id DESC",
                kind.as_str()
            )))
            .bind(to_json_list(ids.into_iter()))
            .try_map(read_unembedded)
            .fetch_all(&self.readers)
            .await
            .or_store_error()?;
            texts.extend(texts_of_kind);
        }
        Ok(texts)
    }

    async fn put_embeddings(&self, model: &str, embeddings: &[NewEmbedding]) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        if let Some((_, vector)) = embeddings.iter().flat_map(|new| &new.parts).next() {
            delete_other_dimensions(&mut transaction, model, vector.len()).await?;
        }
        for NewEmbedding { subject, parts, text } in embeddings {
            if parts.iter().any(|(_, vector)| vector.is_empty()) {
                continue;
            }
            // The subject may have been deleted, or its summary changed, while it was embedded.
            let statement = match subject.kind {
                SubjectKind::Message => {
                    "INSERT INTO embeddings
                         (subject_kind, subject_id, part, first, past, conversation_id, model, dimensions, vector)
                     SELECT 'message', id, ?6, ?7, ?8, conversation_id, ?1, ?2, ?3 FROM messages WHERE id = ?4
                     ON CONFLICT DO NOTHING"
                }
                SubjectKind::Exchange => {
                    "INSERT INTO summary_embeddings
                         (subject_kind, subject_id, conversation_id, model, dimensions, vector)
                     SELECT 'exchange', id, conversation_id, ?1, ?2, ?3 FROM exchanges
                     WHERE id = ?4 AND summary = ?5 ON CONFLICT DO NOTHING"
                }
                SubjectKind::Conversation => {
                    "INSERT INTO summary_embeddings
                         (subject_kind, subject_id, conversation_id, model, dimensions, vector)
                     SELECT 'conversation', id, id, ?1, ?2, ?3 FROM conversations
                     WHERE id = ?4 AND title || '. ' || summary = ?5 ON CONFLICT DO NOTHING"
                }
                SubjectKind::Digest | SubjectKind::Chunk => {
                    let message = format!("cannot store an embedding of a {} here", subject.kind.as_str());
                    return Err(StoreError::Other(message.into()));
                }
            };
            for (part, (range, vector)) in (0_i64..).zip(parts) {
                sqlx::query(statement)
                    .bind(model)
                    .bind(to_signed(vector.len() as u64))
                    .bind(index::encode_vector(vector))
                    .bind(subject.id)
                    .bind(text)
                    .bind(part)
                    .bind(to_signed(range.start as u64))
                    .bind(to_signed(range.end as u64))
                    .execute(&mut *transaction)
                    .await
                    .or_store_error()?;
            }
            complete_job(&mut transaction, WorkerKind::EmbeddingGenerator, *subject).await?;
        }
        transaction.commit().await.or_store_error()
    }

    async fn unembedded_count(&self, kind: SubjectKind, embeddable: &EmbeddingSelection<'_>) -> Result<u64> {
        let (total, embedded) = match kind {
            SubjectKind::Message => {
                let index = self.index(None).await?;
                if let Some(messages) = index.without_vector(embeddable.model, embeddable.min_tokens) {
                    return Ok(messages.len() as u64);
                }
                (index.long_enough(embeddable.min_tokens).len() as u64, "embeddings WHERE part = 0 AND")
            }
            SubjectKind::Exchange | SubjectKind::Conversation => {
                let rows = if kind == SubjectKind::Exchange { "exchanges" } else { "conversations" };
                let sql = format!("SELECT count(*) FROM {rows} WHERE summary IS NOT NULL");
                let total: i64 =
                    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&self.readers).await.or_store_error()?;
                (u64::try_from(total).unwrap_or(0), "summary_embeddings WHERE")
            }
            SubjectKind::Chunk => return self.count_chunks_without_vector(embeddable.model).await,
            SubjectKind::Digest => return Ok(0),
        };
        let embedded: i64 = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT count(*) FROM {embedded} model = ? AND subject_kind = ?"
        )))
        .bind(embeddable.model)
        .bind(kind.as_str())
        .fetch_one(&self.readers)
        .await
        .or_store_error()?;
        Ok(total.saturating_sub(u64::try_from(embedded).unwrap_or(0)))
    }

    async fn embedding_counts(&self) -> Result<Vec<EmbeddingCount>> {
        sqlx::query(
            "SELECT model, subject_kind, 0 AS subject_id, count(*) AS count FROM embeddings GROUP BY model, subject_kind
             UNION ALL
             SELECT model, subject_kind, 0, count(*) FROM summary_embeddings GROUP BY model, subject_kind
             UNION ALL
             SELECT model, 'chunk', 0, count(*) FROM chunk_embeddings GROUP BY model
             ORDER BY model, subject_kind DESC",
        )
        .try_map(|row: SqliteRow| {
            Ok(EmbeddingCount {
                model: row.try_get("model")?,
                kind: read_subject(&row)?.kind,
                count: row.try_get("count")?,
            })
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    async fn delete_embeddings(&self) -> Result<u64> {
        let mut transaction = self.begin_write().await?;
        let mut deleted = 0;
        for statement in
            ["DELETE FROM embeddings", "DELETE FROM summary_embeddings", "DELETE FROM chunk_embeddings"]
        {
            let result = sqlx::query(statement).execute(&mut *transaction).await.or_store_error()?;
            deleted += result.rows_affected();
        }
        // Failed jobs are retried too.
        sqlx::query("DELETE FROM jobs WHERE worker = ?")
            .bind(WorkerKind::EmbeddingGenerator.as_str())
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        transaction.commit().await.or_store_error()?;
        Ok(deleted)
    }
}

impl SqliteStore {
    /// Returns the number of chunks without embeddings.
    async fn count_chunks_without_vector(&self, model: &str) -> Result<u64> {
        let (total, embedded): (i64, i64) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM chunks),
                    (SELECT count(*) FROM chunk_embeddings WHERE model = ? AND part = 0)",
        )
        .bind(model)
        .fetch_one(&self.readers)
        .await
        .or_store_error()?;
        Ok(u64::try_from(total - embedded).unwrap_or(0))
    }

    /// Returns the ids of the messages without an embedding, newest first.
    pub(super) async fn messages_without_vector(
        &self,
        embeddable: &EmbeddingSelection<'_>,
    ) -> Result<Vec<i64>> {
        let dimensions: Option<i64> = sqlx::query_scalar(
            "SELECT dimensions FROM embeddings WHERE model = ? AND subject_kind = 'message' LIMIT 1",
        )
        .bind(embeddable.model)
        .fetch_optional(&self.readers)
        .await
        .or_store_error()?;
        let dimensions = dimensions.and_then(|dimensions| usize::try_from(dimensions).ok());
        let space = dimensions.map(|dimensions| VectorSpace { model: embeddable.model, dimensions });
        let index = self.index(space).await?;
        Ok(match space {
            Some(_) => index.without_vector(embeddable.model, embeddable.min_tokens).unwrap_or_default(),
            None => index.long_enough(embeddable.min_tokens),
        })
    }
}

/// Deletes the embeddings of a model that have another dimension. A server may change the dimension under the same
/// model name, which makes the earlier embeddings useless.
pub(super) async fn delete_other_dimensions(
    connection: &mut SqliteConnection,
    model: &str,
    dimensions: usize,
) -> Result<()> {
    let dimensions = i64::try_from(dimensions).unwrap_or(i64::MAX);
    // For chunks, checking the first part is enough, and an index covers it.
    for (table, condition) in
        [("embeddings", ""), ("summary_embeddings", ""), ("chunk_embeddings", "AND part = 0")]
    {
        let stored: Option<i64> = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT dimensions FROM {table} WHERE model = ? {condition} LIMIT 1"
        )))
        .bind(model)
        .fetch_optional(&mut *connection)
        .await
        .or_store_error()?;
        if stored.is_some_and(|stored| stored != dimensions) {
            sqlx::query(AssertSqlSafe(format!("DELETE FROM {table} WHERE model = ?")))
                .bind(model)
                .execute(&mut *connection)
                .await
                .or_store_error()?;
        }
    }
    Ok(())
}

/// Returns the columns, table and condition that select the texts of a kind.
fn rows_with_texts(kind: SubjectKind) -> Option<&'static str> {
    match kind {
        SubjectKind::Message => Some("conversation_id, author, content AS text FROM messages WHERE TRUE"),
        SubjectKind::Exchange => {
            Some("conversation_id, NULL AS author, summary AS text FROM exchanges WHERE summary IS NOT NULL")
        }
        SubjectKind::Conversation => Some(
            "id AS conversation_id, NULL AS author, title || '. ' || summary AS text FROM conversations
             WHERE summary IS NOT NULL",
        ),
        SubjectKind::Chunk => Some(
            "NULL AS conversation_id, (SELECT title FROM documents WHERE documents.id = document_id) AS author, text
             FROM chunks WHERE TRUE",
        ),
        SubjectKind::Digest => None,
    }
}

fn read_unembedded(row: SqliteRow) -> Result<UnembeddedText, sqlx::Error> {
    Ok(UnembeddedText {
        subject: read_subject(&row)?,
        conversation_id: row.try_get::<Option<i64>, _>("conversation_id")?.map(ConversationId::new),
        author: row.try_get("author")?,
        text: row.try_get("text")?,
    })
}
