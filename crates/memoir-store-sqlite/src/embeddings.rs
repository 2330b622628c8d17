//! SQL of vectors.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, Subject, SubjectKind, WorkerKind};
use memoir_store::{Embeddable, EmbeddingCount, Embeddings, NewEmbedding, Result, StoreError, Unembedded};
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection, sqlite::SqliteRow};

use super::{
    SqliteStore,
    error::SqlResultExt as _,
    index::{self, Which},
    job_rows::subject,
    jobs::done,
    rows::list_of,
};

#[async_trait]
impl Embeddings for SqliteStore {
    async fn unembedded(&self, wanted: &Embeddable<'_>, limit: u32) -> Result<Vec<Unembedded>> {
        let missing = self.messages_without_vector(wanted).await?;
        let newest = missing.into_iter().take(limit as usize);
        let subjects: Vec<Subject> = newest.map(|id| Subject::new(SubjectKind::Message, id)).collect();
        self.embeddable_texts(&subjects).await
    }

    async fn unembedded_of(&self, exchange: ExchangeId, wanted: &Embeddable<'_>) -> Result<Vec<Unembedded>> {
        sqlx::query(
            "SELECT 'message' AS subject_kind, id AS subject_id, conversation_id, author, content AS text
             FROM messages
             WHERE exchange_id = ?1 AND redacted = 0 AND derived = 0 AND role <> 'tool' AND tokens >= ?2
               AND NOT EXISTS (SELECT 1 FROM embeddings
                               WHERE model = ?3 AND subject_kind = 'message' AND subject_id = messages.id)
             ORDER BY id",
        )
        .bind(exchange.get())
        .bind(wanted.shortest)
        .bind(wanted.model)
        .try_map(unembedded)
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    async fn embeddable_texts(&self, subjects: &[Subject]) -> Result<Vec<Unembedded>> {
        let mut texts = Vec::with_capacity(subjects.len());
        for kind in SubjectKind::ALL {
            let Some(rows) = rows_with_texts(kind) else { continue };
            let ids: Vec<i64> =
                subjects.iter().filter(|known| known.kind == kind).map(|known| known.id).collect();
            if ids.is_empty() {
                continue;
            }
            let found = sqlx::query(AssertSqlSafe(format!(
                "SELECT '{}' AS subject_kind, id AS subject_id, {rows} AND id IN (SELECT value FROM json_each(?))
                 ORDER BY id DESC",
                kind.as_str()
            )))
            .bind(list_of(ids.into_iter()))
            .try_map(unembedded)
            .fetch_all(&self.readers)
            .await
            .or_store_error()?;
            texts.extend(found);
        }
        Ok(texts)
    }

    async fn put_embeddings(&self, model: &str, embeddings: &[NewEmbedding]) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        if let Some(new) = embeddings.first() {
            forget_other_lengths(&mut transaction, model, new.vector.len()).await?;
        }
        for NewEmbedding { subject, vector, text } in embeddings.iter().filter(|new| !new.vector.is_empty()) {
            // What was deleted while it was embedded has nothing to keep.
            let statement = match subject.kind {
                SubjectKind::Message => {
                    "INSERT INTO embeddings (subject_kind, subject_id, conversation_id, model, dimensions, vector)
                     SELECT 'message', id, conversation_id, ?1, ?2, ?3 FROM messages WHERE id = ?4
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
                    let said = format!("a {} has no vector of this kind", subject.kind.as_str());
                    return Err(StoreError::Other(said.into()));
                }
            };
            sqlx::query(statement)
                .bind(model)
                .bind(i64::try_from(vector.len()).unwrap_or(i64::MAX))
                .bind(index::bytes(vector))
                .bind(subject.id)
                .bind(text)
                .execute(&mut *transaction)
                .await
                .or_store_error()?;
            done(&mut transaction, WorkerKind::EmbeddingGenerator, *subject).await?;
        }
        transaction.commit().await.or_store_error()
    }

    async fn unembedded_count(&self, kind: SubjectKind, wanted: &Embeddable<'_>) -> Result<u64> {
        let (all, table) = match kind {
            SubjectKind::Message => {
                let index = self.index(None).await?;
                if let Some(missing) = index.without_vector(wanted.model, wanted.shortest) {
                    return Ok(missing.len() as u64);
                }
                (index.long_enough(wanted.shortest).len() as u64, "embeddings")
            }
            SubjectKind::Exchange | SubjectKind::Conversation => {
                let rows = if kind == SubjectKind::Exchange { "exchanges" } else { "conversations" };
                let all = format!("SELECT count(*) FROM {rows} WHERE summary IS NOT NULL");
                let all: i64 =
                    sqlx::query_scalar(AssertSqlSafe(all)).fetch_one(&self.readers).await.or_store_error()?;
                (u64::try_from(all).unwrap_or(0), "summary_embeddings")
            }
            SubjectKind::Chunk => return self.chunks_without_vector(wanted.model).await,
            SubjectKind::Digest => return Ok(0),
        };
        let embedded: i64 = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT count(*) FROM {table} WHERE model = ? AND subject_kind = ?"
        )))
        .bind(wanted.model)
        .bind(kind.as_str())
        .fetch_one(&self.readers)
        .await
        .or_store_error()?;
        Ok(all.saturating_sub(u64::try_from(embedded).unwrap_or(0)))
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
                kind: subject(&row)?.kind,
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
            let gone = sqlx::query(statement).execute(&mut *transaction).await.or_store_error()?;
            deleted += gone.rows_affected();
        }
        // What failed before is tried again, too.
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
    /// How many chunks have no vectors.
    async fn chunks_without_vector(&self, model: &str) -> Result<u64> {
        let (all, embedded): (i64, i64) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM chunks),
                    (SELECT count(*) FROM chunk_embeddings WHERE model = ? AND part = 0)",
        )
        .bind(model)
        .fetch_one(&self.readers)
        .await
        .or_store_error()?;
        Ok(u64::try_from(all - embedded).unwrap_or(0))
    }

    /// The messages that have no vector, newest first.
    pub(super) async fn messages_without_vector(&self, wanted: &Embeddable<'_>) -> Result<Vec<i64>> {
        let dimensions: Option<i64> = sqlx::query_scalar(
            "SELECT dimensions FROM embeddings WHERE model = ? AND subject_kind = 'message' LIMIT 1",
        )
        .bind(wanted.model)
        .fetch_optional(&self.readers)
        .await
        .or_store_error()?;
        let dimensions = dimensions.and_then(|dimensions| usize::try_from(dimensions).ok());
        let which = dimensions.map(|dimensions| Which { model: wanted.model, dimensions });
        let index = self.index(which).await?;
        Ok(match which {
            Some(_) => index.without_vector(wanted.model, wanted.shortest).unwrap_or_default(),
            None => index.long_enough(wanted.shortest),
        })
    }
}

/// A server may change the length of a model's vectors under its name. Then the earlier ones are of no use.
pub(super) async fn forget_other_lengths(
    connection: &mut SqliteConnection,
    model: &str,
    length: usize,
) -> Result<()> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    // Of chunks the first part tells, which is found by an index.
    for (table, condition) in
        [("embeddings", ""), ("summary_embeddings", ""), ("chunk_embeddings", "AND part = 0")]
    {
        let known: Option<i64> = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT dimensions FROM {table} WHERE model = ? {condition} LIMIT 1"
        )))
        .bind(model)
        .fetch_optional(&mut *connection)
        .await
        .or_store_error()?;
        if known.is_some_and(|known| known != length) {
            sqlx::query(AssertSqlSafe(format!("DELETE FROM {table} WHERE model = ?")))
                .bind(model)
                .execute(&mut *connection)
                .await
                .or_store_error()?;
        }
    }
    Ok(())
}

/// Where texts of a kind are, and what they are.
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

fn unembedded(row: SqliteRow) -> Result<Unembedded, sqlx::Error> {
    Ok(Unembedded {
        subject: subject(&row)?,
        conversation_id: row.try_get::<Option<i64>, _>("conversation_id")?.map(ConversationId::new),
        author: row.try_get("author")?,
        text: row.try_get("text")?,
    })
}
