//! SQL for imported conversations.

use async_trait::async_trait;
use memoir_core::{ConversationId, ConversationTarget};
use memoir_store::{Import, Imports, NewImport, NewRedaction, Result, StoreError};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{SqliteStore, commit::insert_whole_exchange, error::SqlResultExt as _, rows::to_signed};

#[async_trait]
impl Imports for SqliteStore {
    async fn imports(&self, origin: &str) -> Result<Vec<Import>> {
        // A prefix match as a range: from the prefix up to the prefix followed by the last Unicode character.
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
        .or_store_error()
    }

    async fn import_origin(&self, conversation: ConversationId) -> Result<Option<String>> {
        sqlx::query_scalar("SELECT origin FROM imports WHERE conversation_id = ? ORDER BY origin LIMIT 1")
            .bind(conversation.get())
            .fetch_optional(&self.readers)
            .await
            .or_store_error()
    }

    async fn put_import(&self, new: &NewImport<'_>) -> Result<Option<ConversationId>> {
        self.store_import(new, &[]).await
    }
}

impl SqliteStore {
    /// Stores imported exchanges and records the redactions of each, in one transaction.
    pub(super) async fn store_import(
        &self,
        new: &NewImport<'_>,
        redactions: &[Vec<NewRedaction>],
    ) -> Result<Option<ConversationId>> {
        if new.exchanges.is_empty() {
            return Err(StoreError::Other("the import contains no exchanges".into()));
        }
        let mut target = ConversationTarget::New(new.conversation.clone());
        let mut transaction = self.begin_write().await?;
        let progress: Option<(i64, i64, String)> =
            sqlx::query_as("SELECT conversation_id, messages, checksum FROM imports WHERE origin = ?")
                .bind(new.origin)
                .fetch_optional(&mut *transaction)
                .await
                .or_store_error()?;
        let previous = new.previous.map(|(messages, checksum)| (to_signed(messages), checksum));
        if progress.as_ref().map(|(_, messages, checksum)| (*messages, checksum.as_str())) != previous {
            return Ok(None);
        }
        if let Some((id, ..)) = progress {
            let conversation = ConversationId::new(id);
            target = ConversationTarget::Existing { conversation, last_seen: new.last_seen };
        }
        let mut last = None;
        for (index, draft) in new.exchanges.iter().enumerate() {
            let redactions = redactions.get(index).map_or(&[][..], Vec::as_slice);
            let committed = insert_whole_exchange(&mut transaction, &target, draft, redactions).await?;
            // The first exchange may create the conversation; the others belong to it.
            target = committed.to_target();
            last = Some(committed);
        }
        sqlx::query(
            "INSERT INTO imports (origin, conversation_id, messages, checksum, through_exchange) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (origin) DO UPDATE SET messages = ?3, checksum = ?4, through_exchange = ?5",
        )
        .bind(new.origin)
        .bind(last.as_ref().map(|committed| committed.conversation_id.get()))
        .bind(to_signed(new.messages))
        .bind(new.checksum)
        .bind(last.as_ref().map(|committed| committed.exchange_id.get()))
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        transaction.commit().await.or_store_error()?;
        Ok(last.map(|committed| committed.conversation_id))
    }
}
