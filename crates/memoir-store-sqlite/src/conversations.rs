//! SQL for the `conversations` table. Exchanges are counted when a conversation is read.

use async_trait::async_trait;
use memoir_core::{Conversation, ConversationId, ExchangeId, Timestamp};
use memoir_store::{ConversationList, ConversationTitle, Conversations, Result};
use sqlx::{AssertSqlSafe, Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::SqlResultExt as _, rows::to_json_list};

/// Condition on a conversation that only asked memory something. A new fork has no messages of its own.
const IS_LOOKUP: &str = "(EXISTS (SELECT 1 FROM messages WHERE conversation_id = conversations.id)
      AND NOT EXISTS (SELECT 1 FROM messages WHERE conversation_id = conversations.id AND derived = 0))";

#[async_trait]
impl Conversations for SqliteStore {
    async fn conversation(&self, id: ConversationId) -> Result<Option<Conversation>> {
        sqlx::query(
            "SELECT *, (SELECT count(*) FROM exchanges WHERE conversation_id = conversations.id) AS exchange_count
             FROM conversations WHERE id = ?",
        )
        .bind(id.get())
        .try_map(read_conversation)
        .fetch_optional(&self.readers)
        .await
        .or_store_error()
    }

    async fn conversations_by_id(&self, ids: &[ConversationId]) -> Result<Vec<Conversation>> {
        sqlx::query(
            "SELECT *, (SELECT count(*) FROM exchanges WHERE conversation_id = conversations.id) AS exchange_count
             FROM conversations WHERE id IN (SELECT value FROM json_each(?)) ORDER BY +id",
        )
        .bind(to_json_list(ids.iter().map(|id| id.get())))
        .try_map(read_conversation)
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    async fn conversations(&self, list: &ConversationList) -> Result<Vec<Conversation>> {
        let query = format!(
            "SELECT *, (SELECT count(*) FROM exchanges WHERE conversation_id = conversations.id) AS exchange_count
             FROM conversations WHERE (?1 IS NULL OR scope = ?1) AND (?3 IS NULL OR instr(lower(title), lower(?3)))
               AND (NOT ?4 OR coalesce((SELECT max(through_exchange) FROM imports WHERE conversation_id = conversations.id) <
                                       (SELECT max(id) FROM exchanges WHERE conversation_id = conversations.id), 1))
               AND (NOT ?5 OR NOT {IS_LOOKUP}) AND (?6 IS NULL OR shared OR scope = ?6)
               AND (?7 IS NULL OR (updated, id) < (?7, ?8))
             ORDER BY updated DESC, id DESC LIMIT ?2"
        );
        sqlx::query(AssertSqlSafe(query))
            .bind(&list.scope)
            .bind(list.limit)
            .bind(&list.matching)
            .bind(list.exclude_imported)
            .bind(list.exclude_lookups)
            .bind(&list.visible_to)
            .bind(list.after.map(|position| position.updated.as_millis()))
            .bind(list.after.map(|position| position.id.get()))
            .try_map(read_conversation)
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn titles(&self) -> Result<Vec<ConversationTitle>> {
        type Row = (i64, String, String, i64, Option<i64>, bool);
        let query = format!(
            "SELECT id, title, scope, updated, forked_from, forked_from IS NULL AND NOT EXISTS
                 (SELECT 1 FROM exchanges WHERE conversation_id = conversations.id LIMIT 1 OFFSET 1)
             FROM conversations WHERE NOT {IS_LOOKUP} ORDER BY updated DESC, id DESC"
        );
        let rows: Vec<Row> =
            sqlx::query_as(AssertSqlSafe(query)).fetch_all(&self.readers).await.or_store_error()?;
        let title = |(id, title, scope, updated, forked_from, is_single): Row| ConversationTitle {
            id: ConversationId::new(id),
            title,
            scope,
            updated: Timestamp::from_millis(updated),
            forked_from: forked_from.map(ConversationId::new),
            is_single,
        };
        Ok(rows.into_iter().map(title).collect())
    }

    async fn is_forked_after(&self, id: ConversationId, exchange: ExchangeId) -> Result<bool> {
        sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM conversations WHERE forked_from = ? AND forked_through >= ?)",
        )
        .bind(id.get())
        .bind(exchange.get())
        .fetch_one(&self.readers)
        .await
        .or_store_error()
    }

    async fn set_shared(&self, id: ConversationId, is_shared: bool) -> Result<bool> {
        let result = sqlx::query("UPDATE conversations SET shared = ? WHERE id = ?")
            .bind(is_shared)
            .bind(id.get())
            .execute(self.writer().await?)
            .await
            .or_store_error()?;
        Ok(result.rows_affected() == 1)
    }

    async fn fork(&self, id: ConversationId, at: Timestamp) -> Result<Option<ConversationId>> {
        let mut last = None;
        for part in self.lineage(id).await? {
            let through: Option<i64> =
                sqlx::query_scalar("SELECT max(id) FROM exchanges WHERE conversation_id = ? AND id <= ?")
                    .bind(part.conversation.get())
                    .bind(part.through)
                    .fetch_one(&self.readers)
                    .await
                    .or_store_error()?;
            last = last.or(through);
        }
        sqlx::query_scalar(
            "INSERT INTO conversations (title, scope, model, created, updated, forked_from, forked_through)
             SELECT title, scope, model, ?2, ?2, id, ?3 FROM conversations WHERE id = ?1 RETURNING id",
        )
        .bind(id.get())
        .bind(at.as_millis())
        .bind(last.unwrap_or(0))
        .fetch_optional(self.writer().await?)
        .await
        .map(|id| id.map(ConversationId::new))
        .or_store_error()
    }
}

fn read_conversation(row: SqliteRow) -> Result<Conversation, sqlx::Error> {
    Ok(Conversation {
        id: ConversationId::new(row.try_get("id")?),
        title: row.try_get("title")?,
        scope: row.try_get("scope")?,
        model: row.try_get("model")?,
        created: Timestamp::from_millis(row.try_get("created")?),
        updated: Timestamp::from_millis(row.try_get("updated")?),
        exchange_count: row.try_get("exchange_count")?,
        forked_from: row.try_get::<Option<i64>, _>("forked_from")?.map(ConversationId::new),
        summary: row.try_get("summary")?,
        is_shared: row.try_get("shared")?,
    })
}
