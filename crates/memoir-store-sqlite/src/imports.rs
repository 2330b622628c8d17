//! SQL for imported conversations.

use async_trait::async_trait;
use memoir_core::{ConversationId, ConversationTarget, ExchangeDraft, Timestamp};
use memoir_store::{Import, Imports, NewImport, NewRedaction, Result, StoreError};
use sha2::{Digest as _, Sha256};
use sqlx::{Row as _, SqliteConnection, sqlite::SqliteRow};

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
                through: row.try_get::<Option<i64>, _>("through_time")?.map(Timestamp::from_millis),
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

    async fn forgotten_at(&self, origin: &str) -> Result<Option<Timestamp>> {
        sqlx::query_scalar("SELECT forgotten FROM forgotten_imports WHERE origin_hash = ?")
            .bind(hash_origin(origin))
            .fetch_optional(&self.readers)
            .await
            .map(|forgotten: Option<i64>| forgotten.map(Timestamp::from_millis))
            .or_store_error()
    }

    async fn are_stored(&self, exchanges: &[ExchangeDraft]) -> Result<Vec<bool>> {
        let list: Vec<_> = exchanges
            .iter()
            .map(|exchange| {
                let program = exchange.source.as_ref().map(|source| &source.program);
                let (started, completed) = (exchange.started.as_millis(), exchange.completed.as_millis());
                (program, started, completed, &exchange.user_message)
            })
            .collect();
        sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM exchanges
                            WHERE program = json_extract(value, '$[0]') AND started = json_extract(value, '$[1]')
                              AND completed = json_extract(value, '$[2]') AND user_message = json_extract(value, '$[3]'))
             FROM json_each(?) ORDER BY key",
        )
        .bind(serde_json::to_string(&list).map_err(|error| StoreError::Other(error.into()))?)
        .fetch_all(&self.readers)
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
            "INSERT INTO imports (origin, conversation_id, messages, checksum, through_exchange, through_time)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (origin) DO UPDATE SET
                 messages = ?3, checksum = ?4, through_exchange = ?5, through_time = max(?6, coalesce(through_time, ?6))",
        )
        .bind(new.origin)
        .bind(last.as_ref().map(|committed| committed.conversation_id.get()))
        .bind(to_signed(new.messages))
        .bind(new.checksum)
        .bind(last.as_ref().map(|committed| committed.exchange_id.get()))
        .bind(new.through.map(Timestamp::as_millis))
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        transaction.commit().await.or_store_error()?;
        Ok(last.map(|committed| committed.conversation_id))
    }
}

/// Returns the origins of conversations that were imported.
pub(super) async fn find_origins(
    connection: &mut SqliteConnection,
    conversations: &str,
) -> Result<Vec<String>> {
    sqlx::query_scalar(
        "SELECT origin FROM imports WHERE conversation_id IN (SELECT value FROM json_each(?)) ORDER BY origin",
    )
    .bind(conversations)
    .fetch_all(connection)
    .await
    .or_store_error()
}

/// Records which of these imports no longer have a conversation, so that a program that follows their files does not
/// bring them back. Only a hash is kept, because an origin may contain the name of a chat.
pub(super) async fn record_forgotten(connection: &mut SqliteConnection, origins: &[String]) -> Result<()> {
    for origin in origins {
        sqlx::query(
            "INSERT INTO forgotten_imports (origin_hash, forgotten)
             SELECT ?2, CAST(unixepoch('subsec') * 1000 AS INTEGER)
             WHERE NOT EXISTS (SELECT 1 FROM imports WHERE origin = ?1)
             ON CONFLICT DO UPDATE SET forgotten = excluded.forgotten",
        )
        .bind(origin)
        .bind(hash_origin(origin))
        .execute(&mut *connection)
        .await
        .or_store_error()?;
    }
    Ok(())
}

fn hash_origin(origin: &str) -> String {
    Sha256::digest(origin).iter().map(|byte| format!("{byte:02x}")).collect()
}
