//! SQL of what was brought in.

use async_trait::async_trait;
use memoir_core::{ConversationId, ConversationTarget};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{SqliteStore, clean, error::store_error, exchanges::file_exchange, rows::signed};
use crate::{Import, Imports, NewImport, Result, StoreError};

#[async_trait]
impl Imports for SqliteStore {
    async fn imports(&self, origin: &str) -> Result<Vec<Import>> {
        // What begins with it lies between it and the same with the last character there is.
        sqlx::query(
            "SELECT * FROM imports WHERE origin >= ?1 AND origin < ?1 || char(1114111) ORDER BY origin",
        )
        .bind(origin)
        .try_map(|row: SqliteRow| {
            Ok(Import {
                origin: row.try_get("origin")?,
                conversation_id: ConversationId::new(row.try_get("conversation_id")?),
                messages: row.try_get("messages")?,
                checksum: row.try_get("checksum")?,
            })
        })
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }

    async fn origin_of(&self, conversation: ConversationId) -> Result<Option<String>> {
        sqlx::query_scalar("SELECT origin FROM imports WHERE conversation_id = ? ORDER BY origin LIMIT 1")
            .bind(conversation.get())
            .fetch_optional(&self.readers)
            .await
            .map_err(store_error)
    }

    async fn put_import(&self, new: &NewImport<'_>) -> Result<Option<ConversationId>> {
        if new.exchanges.is_empty() {
            return Err(StoreError::Other("there is nothing to bring in".into()));
        }
        let mut target = ConversationTarget::New(new.conversation.clone());
        let clean: Vec<_> = new.exchanges.iter().map(|draft| clean::exchange(&target, draft)).collect();
        let mut transaction = self.begin_write().await?;
        let known: Option<(i64, i64, String)> =
            sqlx::query_as("SELECT conversation_id, messages, checksum FROM imports WHERE origin = ?")
                .bind(new.origin)
                .fetch_optional(&mut *transaction)
                .await
                .map_err(store_error)?;
        let seen = new.seen.map(|(messages, checksum)| (signed(messages), checksum));
        if known.as_ref().map(|(_, messages, checksum)| (*messages, checksum.as_str())) != seen {
            return Ok(None);
        }
        if let Some((id, ..)) = known {
            let conversation = ConversationId::new(id);
            target = ConversationTarget::Existing { conversation, last_seen: new.last_seen };
        }
        let mut last = None;
        for (place, (new_target, draft, findings)) in clean.into_iter().enumerate() {
            // The first is born with its conversation, if that is new; the others follow it.
            let of_new = place == 0 && matches!(target, ConversationTarget::New(_));
            let target_now = if of_new { new_target } else { target.clone() };
            let filed = file_exchange(&mut transaction, (target_now, draft, findings)).await?;
            target = filed.to_target();
            last = Some(filed);
        }
        sqlx::query(
            "INSERT INTO imports (origin, conversation_id, messages, checksum, through_exchange) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (origin) DO UPDATE SET messages = ?3, checksum = ?4, through_exchange = ?5",
        )
        .bind(new.origin)
        .bind(last.as_ref().map(|filed| filed.conversation_id.get()))
        .bind(signed(new.messages))
        .bind(new.checksum)
        .bind(last.as_ref().map(|filed| filed.exchange_id.get()))
        .execute(&mut *transaction)
        .await
        .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(last.map(|filed| filed.conversation_id))
    }
}
