//! SQL of what was brought in.

use async_trait::async_trait;
use memoir_core::{ConversationId, ConversationTarget};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::store_error, exchanges::file_exchange, rows::signed};
use crate::{Import, Imports, NewImport, Result};

#[async_trait]
impl Imports for SqliteStore {
    async fn import(&self, origin: &str) -> Result<Option<Import>> {
        sqlx::query("SELECT * FROM imports WHERE origin = ?")
            .bind(origin)
            .try_map(|row: SqliteRow| {
                Ok(Import {
                    conversation_id: ConversationId::new(row.try_get("conversation_id")?),
                    messages: row.try_get("messages")?,
                    checksum: row.try_get("checksum")?,
                })
            })
            .fetch_optional(&self.readers)
            .await
            .map_err(store_error)
    }

    async fn put_import(&self, new: &NewImport<'_>) -> Result<ConversationId> {
        let mut transaction = self.begin_write().await?;
        let known: Option<i64> = sqlx::query_scalar("SELECT conversation_id FROM imports WHERE origin = ?")
            .bind(new.origin)
            .fetch_optional(&mut *transaction)
            .await
            .map_err(store_error)?;
        let mut target = match known {
            Some(id) => ConversationTarget::Existing(ConversationId::new(id)),
            None => ConversationTarget::New(new.conversation.clone()),
        };
        let mut id = known.map(ConversationId::new);
        for draft in new.exchanges {
            let filed = file_exchange(&mut transaction, &target, draft).await?;
            target = ConversationTarget::Existing(filed.conversation_id);
            id = Some(filed.conversation_id);
        }
        let id = id.ok_or_else(|| crate::StoreError::Other("there is nothing to bring in".into()))?;
        sqlx::query(
            "INSERT INTO imports (origin, conversation_id, messages, checksum) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (origin) DO UPDATE SET messages = ?3, checksum = ?4",
        )
        .bind(new.origin)
        .bind(id.get())
        .bind(signed(new.messages))
        .bind(new.checksum)
        .execute(&mut *transaction)
        .await
        .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(id)
    }
}
