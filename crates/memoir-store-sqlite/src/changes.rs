//! SQL for what has changed.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId};
use memoir_store::{ChangeLog, ChangeMark, Changes, CommittedExchange, Result};

use super::{SqliteStore, error::SqlResultExt as _};

#[async_trait]
impl ChangeLog for SqliteStore {
    async fn change_mark(&self) -> Result<ChangeMark> {
        // A document that is read again gets a later time of change.
        let (exchange, documents, deletions) = sqlx::query_as(
            "SELECT (SELECT coalesce(max(id), 0) FROM exchanges),
                    (SELECT coalesce(max(id), 0) + coalesce(max(updated), 0) FROM documents),
                    count + chunks + others
             FROM _deletions",
        )
        .fetch_one(&self.readers)
        .await
        .or_store_error()?;
        Ok(ChangeMark { exchange, documents, deletions })
    }

    async fn changes_since(&self, mark: ChangeMark, limit: u32) -> Result<Changes> {
        let now = self.change_mark().await?;
        let rows: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT id, conversation_id FROM exchanges WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
        )
        .bind(mark.exchange)
        .bind(now.exchange)
        .bind(limit)
        .fetch_all(&self.readers)
        .await
        .or_store_error()?;
        let is_full = rows.len() == limit as usize;
        let last = rows.last().filter(|_| is_full).map_or(now.exchange, |(id, _)| *id);
        let exchange = |(id, conversation): (i64, i64)| CommittedExchange {
            conversation_id: ConversationId::new(conversation),
            exchange_id: ExchangeId::new(id),
        };
        Ok(Changes {
            exchanges: rows.into_iter().map(exchange).collect(),
            // The last exchange may have been deleted.
            mark: ChangeMark { exchange: last.max(mark.exchange), ..now },
        })
    }
}
