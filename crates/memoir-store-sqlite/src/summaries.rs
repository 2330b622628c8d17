//! SQL for summaries, which are columns of `exchanges` and `conversations`.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, Subject, SubjectKind, Summary, WorkerKind};
use memoir_store::{ConversationSummary, Result, Summaries};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::SqlResultExt as _, jobs::complete_job};

#[async_trait]
impl Summaries for SqliteStore {
    async fn put_exchange_summaries(&self, summaries: &[(ExchangeId, Summary)]) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        for (exchange, summary) in summaries {
            sqlx::query("UPDATE exchanges SET summary = ?, summary_by = ? WHERE id = ?")
                .bind(&summary.text)
                .bind(&summary.author)
                .bind(exchange.get())
                .execute(&mut *transaction)
                .await
                .or_store_error()?;
            let subject = Subject::new(SubjectKind::Exchange, exchange.get());
            complete_job(&mut transaction, WorkerKind::ExchangeSummarizer, subject).await?;
        }
        transaction.commit().await.or_store_error()
    }

    async fn put_conversation_summary(
        &self,
        conversation: ConversationId,
        summary: &ConversationSummary,
        exchanges: u64,
        title: Option<&str>,
    ) -> Result<bool> {
        let mut transaction = self.begin_write().await?;
        // Nothing is stored if an exchange that the summary covers has been deleted.
        let result = sqlx::query(
            "UPDATE conversations SET summary = ?1, summary_by = ?2, summary_through = ?3, title = coalesce(?4, title),
                 summary_due = EXISTS (SELECT 1 FROM exchanges
                                       WHERE conversation_id = ?5 AND status = 'completed' AND id > ?3)
             WHERE id = ?5 AND EXISTS (SELECT 1 FROM exchanges WHERE id = ?3 AND conversation_id = ?5)
               AND (SELECT count(*) FROM exchanges WHERE conversation_id = ?5 AND id <= ?3) = ?6",
        )
        .bind(&summary.summary.text)
        .bind(&summary.summary.author)
        .bind(summary.through.get())
        .bind(title)
        .bind(conversation.get())
        .bind(i64::try_from(exchanges).unwrap_or(i64::MAX))
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        if result.rows_affected() == 1 {
            let subject = Subject::new(SubjectKind::Conversation, conversation.get());
            complete_job(&mut transaction, WorkerKind::ConversationSummarizer, subject).await?;
        }
        transaction.commit().await.or_store_error()?;
        Ok(result.rows_affected() == 1)
    }

    async fn exchange_summary(&self, exchange: ExchangeId) -> Result<Option<Summary>> {
        sqlx::query("SELECT summary, summary_by FROM exchanges WHERE id = ? AND summary IS NOT NULL")
            .bind(exchange.get())
            .try_map(read_summary)
            .fetch_optional(&self.readers)
            .await
            .or_store_error()
    }

    async fn conversation_summary(
        &self,
        conversation: ConversationId,
    ) -> Result<Option<ConversationSummary>> {
        sqlx::query("SELECT * FROM conversations WHERE id = ? AND summary IS NOT NULL")
            .bind(conversation.get())
            .try_map(|row: SqliteRow| {
                let through = ExchangeId::new(row.try_get("summary_through")?);
                Ok(ConversationSummary { summary: read_summary(row)?, through })
            })
            .fetch_optional(&self.readers)
            .await
            .or_store_error()
    }
}

fn read_summary(row: SqliteRow) -> Result<Summary, sqlx::Error> {
    Ok(Summary { text: row.try_get("summary")?, author: row.try_get("summary_by")? })
}
