//! SQL for continuations.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId};
use memoir_store::{CommittedExchange, Continuations, Result};
use sqlx::Row as _;

use super::{SqliteStore, error::SqlResultExt as _};

#[async_trait]
impl Continuations for SqliteStore {
    async fn continuation(&self, key: &str) -> Result<Option<CommittedExchange>> {
        sqlx::query(
            "SELECT id, conversation_id FROM continuations JOIN exchanges ON id = exchange_id WHERE key = ?",
        )
        .bind(key)
        .try_map(|row: sqlx::sqlite::SqliteRow| {
            Ok(CommittedExchange {
                conversation_id: ConversationId::new(row.try_get("conversation_id")?),
                exchange_id: ExchangeId::new(row.try_get("id")?),
            })
        })
        .fetch_optional(&self.readers)
        .await
        .or_store_error()
    }

    async fn put_continuations(&self, exchange: ExchangeId, keys: &[String]) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        for key in keys {
            // The exchange may have been deleted since.
            sqlx::query(
                "INSERT OR REPLACE INTO continuations (key, exchange_id)
                 SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM exchanges WHERE id = ?2)",
            )
            .bind(key)
            .bind(exchange.get())
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        }
        transaction.commit().await.or_store_error()
    }
}
