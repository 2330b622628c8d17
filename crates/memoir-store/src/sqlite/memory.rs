//! SQL of what recall works on.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, MessageId, Role, Timestamp};
use sqlx::{AssertSqlSafe, Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::store_error, text_query::any_term_query, vectors};
use crate::{Match, Memory, MessageOutline, NewEmbedding, Result, Unembedded};

#[async_trait]
impl Memory for SqliteStore {
    async fn unembedded(&self, model: &str, shortest: u32, limit: u32) -> Result<Vec<Unembedded>> {
        sqlx::query(
            "SELECT id, conversation_id, author, content FROM messages
             WHERE redacted = 0 AND derived = 0 AND role <> 'tool' AND tokens >= ?1
               AND NOT EXISTS (SELECT 1 FROM embeddings
                               WHERE model = ?2 AND subject_kind = 'message' AND subject_id = messages.id)
             ORDER BY id DESC LIMIT ?3",
        )
        .bind(shortest)
        .bind(model)
        .bind(limit)
        .try_map(unembedded)
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }

    async fn unembedded_of(
        &self,
        exchange: ExchangeId,
        model: &str,
        shortest: u32,
    ) -> Result<Vec<Unembedded>> {
        sqlx::query(
            "SELECT id, conversation_id, author, content FROM messages
             WHERE exchange_id = ?1 AND redacted = 0 AND derived = 0 AND role <> 'tool' AND tokens >= ?2
               AND NOT EXISTS (SELECT 1 FROM embeddings
                               WHERE model = ?3 AND subject_kind = 'message' AND subject_id = messages.id)
             ORDER BY id",
        )
        .bind(exchange.get())
        .bind(shortest)
        .bind(model)
        .try_map(unembedded)
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }

    async fn put_embeddings(&self, model: &str, embeddings: &[NewEmbedding]) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        for embedding in embeddings {
            // A message may have been deleted while it was embedded: then there is nothing to keep.
            sqlx::query(
                "INSERT INTO embeddings (subject_kind, subject_id, conversation_id, model, dimensions, vector)
                 SELECT 'message', id, conversation_id, ?1, ?2, ?3 FROM messages WHERE id = ?4
                 ON CONFLICT DO NOTHING",
            )
            .bind(model)
            .bind(i64::try_from(embedding.vector.len()).unwrap_or(i64::MAX))
            .bind(vectors::bytes(&embedding.vector))
            .bind(embedding.message_id.get())
            .execute(&mut *transaction)
            .await
            .map_err(store_error)?;
        }
        transaction.commit().await.map_err(store_error)
    }

    async fn nearest(
        &self,
        model: &str,
        vector: &[f32],
        except: Option<ConversationId>,
        limit: usize,
    ) -> Result<Vec<Match>> {
        let mut vectors = self.vectors.lock().await;
        vectors.refresh(&self.readers, model, vector.len()).await?;
        Ok(vectors.nearest(vector, except, limit))
    }

    async fn matching_word(
        &self,
        word: &str,
        except: Option<ConversationId>,
        limit: u32,
    ) -> Result<Vec<Match>> {
        let Some(query) = any_term_query(word) else { return Ok(Vec::new()) };
        sqlx::query(
            "SELECT messages.id, conversation_id, -messages_text.rank AS score
             FROM messages_text JOIN messages ON messages.id = messages_text.rowid
             WHERE messages_text MATCH ?1 AND conversation_id IS NOT ?2
             ORDER BY messages_text.rank LIMIT ?3",
        )
        .bind(query)
        .bind(except.map(ConversationId::get))
        .bind(limit)
        .try_map(|row: SqliteRow| {
            Ok(Match {
                message_id: MessageId::new(row.try_get("id")?),
                conversation_id: ConversationId::new(row.try_get("conversation_id")?),
                score: row.try_get("score")?,
            })
        })
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }

    async fn outlines(&self, conversations: &[ConversationId]) -> Result<Vec<MessageOutline>> {
        let ids: Vec<i64> = conversations.iter().map(|id| id.get()).collect();
        sqlx::query(AssertSqlSafe(format!(
            "SELECT id, exchange_id, conversation_id, role, author, created,
                    length(content) - length(replace(content, ' ', '')) + 1 AS words, content LIKE '%?' AS asks
             FROM messages
             WHERE conversation_id IN ({}) AND redacted = 0 AND derived = 0 AND role <> 'tool'
             ORDER BY conversation_id, id",
            list(&ids)
        )))
        .try_map(|row: SqliteRow| {
            Ok(MessageOutline {
                id: MessageId::new(row.try_get("id")?),
                exchange_id: ExchangeId::new(row.try_get("exchange_id")?),
                conversation_id: ConversationId::new(row.try_get("conversation_id")?),
                role: if row.try_get::<&str, _>("role")? == "user" { Role::User } else { Role::Assistant },
                author: row.try_get("author")?,
                created: Timestamp::from_millis(row.try_get("created")?),
                words: row.try_get("words")?,
                asks: row.try_get("asks")?,
            })
        })
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }

    async fn texts(&self, messages: &[MessageId]) -> Result<Vec<(MessageId, String)>> {
        let ids: Vec<i64> = messages.iter().map(|id| id.get()).collect();
        sqlx::query(AssertSqlSafe(format!("SELECT id, content FROM messages WHERE id IN ({})", list(&ids))))
            .try_map(|row: SqliteRow| Ok((MessageId::new(row.try_get("id")?), row.try_get("content")?)))
            .fetch_all(&self.readers)
            .await
            .map_err(store_error)
    }

    async fn authors(&self) -> Result<Vec<String>> {
        sqlx::query_scalar("SELECT DISTINCT author FROM messages WHERE author IS NOT NULL")
            .fetch_all(&self.readers)
            .await
            .map_err(store_error)
    }

    async fn conversation_count(&self) -> Result<u64> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM conversations")
            .fetch_one(&self.readers)
            .await
            .map_err(store_error)?;
        Ok(u64::try_from(count).unwrap_or(0))
    }
}

fn unembedded(row: SqliteRow) -> Result<Unembedded, sqlx::Error> {
    Ok(Unembedded {
        message_id: MessageId::new(row.try_get("id")?),
        conversation_id: ConversationId::new(row.try_get("conversation_id")?),
        author: row.try_get("author")?,
        text: row.try_get("content")?,
    })
}

/// Numbers for an `IN` list. They are numbers, so that nothing needs quoting.
fn list(ids: &[i64]) -> String {
    ids.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}
