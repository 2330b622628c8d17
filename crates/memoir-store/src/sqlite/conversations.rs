//! SQL of conversations.

use async_trait::async_trait;
use memoir_core::{Conversation, ConversationId, Timestamp};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::store_error, rows::list_of};
use crate::{ConversationList, Conversations, Result};

#[async_trait]
impl Conversations for SqliteStore {
    async fn conversation(&self, id: ConversationId) -> Result<Option<Conversation>> {
        sqlx::query(
            "SELECT *, (SELECT count(*) FROM exchanges WHERE conversation_id = conversations.id) AS exchange_count
             FROM conversations WHERE id = ?",
        )
        .bind(id.get())
        .try_map(conversation)
        .fetch_optional(&self.readers)
        .await
        .map_err(store_error)
    }

    async fn conversations_by_id(&self, ids: &[ConversationId]) -> Result<Vec<Conversation>> {
        sqlx::query(
            "SELECT *, (SELECT count(*) FROM exchanges WHERE conversation_id = conversations.id) AS exchange_count
             FROM conversations WHERE id IN (SELECT value FROM json_each(?))",
        )
        .bind(list_of(ids.iter().map(|id| id.get())))
        .try_map(conversation)
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }

    async fn conversations(&self, list: &ConversationList) -> Result<Vec<Conversation>> {
        sqlx::query(
            "SELECT *, (SELECT count(*) FROM exchanges WHERE conversation_id = conversations.id) AS exchange_count
             FROM conversations WHERE ?1 IS NULL OR scope = ?1
             ORDER BY updated DESC, id DESC LIMIT ?2",
        )
        .bind(&list.scope)
        .bind(list.limit)
        .try_map(conversation)
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }
}

fn conversation(row: SqliteRow) -> Result<Conversation, sqlx::Error> {
    Ok(Conversation {
        id: ConversationId::new(row.try_get("id")?),
        title: row.try_get("title")?,
        scope: row.try_get("scope")?,
        model: row.try_get("model")?,
        created: Timestamp::from_millis(row.try_get("created")?),
        updated: Timestamp::from_millis(row.try_get("updated")?),
        exchange_count: row.try_get("exchange_count")?,
        summary: row.try_get("summary")?,
    })
}
