//! SQL for the `digests` table: one row per conversation, not changed if another process has changed it first.

use async_trait::async_trait;
use memoir_core::{
    ConversationId, Digest, ExchangeId, PreparedSummary, Subject, SubjectKind, Timestamp, WorkerKind,
};
use memoir_store::{Digests, Result, StoreError};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::SqlResultExt as _, jobs::complete_job};

#[async_trait]
impl Digests for SqliteStore {
    async fn digest(&self, conversation: ConversationId) -> Result<Option<Digest>> {
        sqlx::query("SELECT * FROM digests WHERE conversation_id = ?")
            .bind(conversation.get())
            .try_map(read_digest)
            .fetch_optional(&self.readers)
            .await
            .or_store_error()
    }

    async fn put_digest(
        &self,
        conversation: ConversationId,
        previous_through: Option<ExchangeId>,
        digest: &Digest,
        now: Timestamp,
    ) -> Result<bool> {
        let pinned =
            serde_json::to_string(&digest.pinned).map_err(|error| StoreError::Other(error.into()))?;
        let mut transaction = self.begin_write().await?;
        // Nothing is stored if the conversation has been deleted.
        let result = sqlx::query(
            "INSERT INTO digests (conversation_id, through_exchange, summary, pinned, next_through, next_summary, updated, is_compact)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?9 FROM conversations WHERE id = ?1
                 AND (?8 IS NULL OR EXISTS (SELECT 1 FROM digests WHERE conversation_id = ?1))
             ON CONFLICT DO UPDATE SET through_exchange = excluded.through_exchange, summary = excluded.summary,
                 pinned = excluded.pinned, next_through = excluded.next_through,
                 next_summary = excluded.next_summary, wanted_through = NULL, updated = excluded.updated,
                 is_compact = excluded.is_compact
             WHERE through_exchange = ?8",
        )
        .bind(conversation.get())
        .bind(digest.through.get())
        .bind(&digest.summary)
        .bind(pinned)
        .bind(digest.prepared.as_ref().map(|prepared| prepared.through.get()))
        .bind(digest.prepared.as_ref().map(|prepared| &prepared.summary))
        .bind(now.as_millis())
        .bind(previous_through.map(ExchangeId::get))
        .bind(digest.is_compact)
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        // A summary requested before the window moved is obsolete, even if its job has failed.
        let subject = Subject::new(SubjectKind::Digest, conversation.get());
        complete_job(&mut transaction, WorkerKind::ConversationSummarizer, subject).await?;
        transaction.commit().await.or_store_error()?;
        Ok(result.rows_affected() == 1)
    }

    async fn request_digest(
        &self,
        conversation: ConversationId,
        previous_through: Option<ExchangeId>,
        through: ExchangeId,
        now: Timestamp,
    ) -> Result<()> {
        sqlx::query(
            "INSERT INTO digests (conversation_id, through_exchange, summary, pinned, wanted_through, updated)
             SELECT ?1, 0, '', '[]', ?2, ?3 FROM conversations WHERE id = ?1 AND EXISTS (SELECT 1 FROM exchanges WHERE id = ?2)
                 AND (?4 IS NULL OR EXISTS (SELECT 1 FROM digests WHERE conversation_id = ?1))
             ON CONFLICT DO UPDATE SET wanted_through = excluded.wanted_through, updated = excluded.updated
             WHERE through_exchange = coalesce(?4, 0)",
        )
        .bind(conversation.get())
        .bind(through.get())
        .bind(now.as_millis())
        .bind(previous_through.map(ExchangeId::get))
        .execute(self.writer().await?)
        .await
        .or_store_error()?;
        Ok(())
    }

    async fn prepare_digest(
        &self,
        conversation: ConversationId,
        previous_through: Option<ExchangeId>,
        prepared: &PreparedSummary,
        now: Timestamp,
    ) -> Result<bool> {
        let mut transaction = self.begin_write().await?;
        // Nothing is stored if the conversation or the exchange has been deleted.
        let result = sqlx::query(
            "INSERT INTO digests (conversation_id, through_exchange, summary, pinned, next_through, next_summary, updated)
             SELECT ?1, 0, '', '[]', ?2, ?3, ?4 FROM conversations WHERE id = ?1 AND EXISTS (SELECT 1 FROM exchanges WHERE id = ?2)
                 AND (?5 IS NULL OR EXISTS (SELECT 1 FROM digests WHERE conversation_id = ?1))
             ON CONFLICT DO UPDATE SET next_through = excluded.next_through, next_summary = excluded.next_summary,
                 wanted_through = NULL, updated = excluded.updated
             WHERE through_exchange = coalesce(?5, 0)",
        )
        .bind(conversation.get())
        .bind(prepared.through.get())
        .bind(&prepared.summary)
        .bind(now.as_millis())
        .bind(previous_through.map(ExchangeId::get))
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        let subject = Subject::new(SubjectKind::Digest, conversation.get());
        complete_job(&mut transaction, WorkerKind::ConversationSummarizer, subject).await?;
        transaction.commit().await.or_store_error()?;
        Ok(result.rows_affected() == 1)
    }
}

fn read_digest(row: SqliteRow) -> Result<Digest, sqlx::Error> {
    let pinned: &str = row.try_get("pinned")?;
    let through: Option<i64> = row.try_get("next_through")?;
    let summary: Option<String> = row.try_get("next_summary")?;
    Ok(Digest {
        through: ExchangeId::new(row.try_get("through_exchange")?),
        summary: row.try_get("summary")?,
        pinned: serde_json::from_str(pinned).map_err(|error| sqlx::Error::Decode(error.into()))?,
        prepared: through
            .zip(summary)
            .map(|(through, summary)| PreparedSummary { through: ExchangeId::new(through), summary }),
        requested_through: row.try_get::<Option<i64>, _>("wanted_through")?.map(ExchangeId::new),
        is_compact: row.try_get("is_compact")?,
    })
}
