//! SQL of full-text search.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, MessageId, Role, Timestamp};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::store_error, text_query::any_term_query};
use crate::{Result, TextHit, TextSearch, TextSearchRequest};

#[async_trait]
impl TextSearch for SqliteStore {
    async fn search_text(&self, request: &TextSearchRequest) -> Result<Vec<TextHit>> {
        let Some(query) = any_term_query(&request.text) else {
            return Ok(Vec::new());
        };
        // SQLite's BM25 is negative, the best match lowest.
        sqlx::query(
            "SELECT messages.id, exchange_id, conversation_id, role, messages.content, created, hits.score
             FROM (SELECT rowid, -rank AS score FROM messages_text WHERE messages_text MATCH ?
                   ORDER BY rank LIMIT ?) AS hits
             JOIN messages ON messages.id = hits.rowid
             ORDER BY hits.score DESC, messages.id DESC",
        )
        .bind(query)
        .bind(request.limit)
        .try_map(hit)
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }
}

fn hit(row: SqliteRow) -> Result<TextHit, sqlx::Error> {
    Ok(TextHit {
        message_id: MessageId::new(row.try_get("id")?),
        exchange_id: ExchangeId::new(row.try_get("exchange_id")?),
        conversation_id: ConversationId::new(row.try_get("conversation_id")?),
        role: if row.try_get::<&str, _>("role")? == "user" { Role::User } else { Role::Assistant },
        text: row.try_get("content")?,
        created: Timestamp::from_millis(row.try_get("created")?),
        score: row.try_get("score")?,
    })
}
