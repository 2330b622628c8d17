//! SQL for the command history.

use async_trait::async_trait;
use memoir_core::Timestamp;
use memoir_store::{CommandHistory, NewRedaction, Result};

use super::{
    SqliteStore,
    error::SqlResultExt as _,
    redactions::{Source, insert_redactions},
};

#[async_trait]
impl CommandHistory for SqliteStore {
    async fn append_command(&self, line: &str, now: Timestamp) -> Result<()> {
        self.append_line(line, &[], now).await
    }

    async fn recent_commands(&self, limit: u32) -> Result<Vec<String>> {
        let mut lines: Vec<String> =
            sqlx::query_scalar("SELECT line FROM command_history ORDER BY id DESC LIMIT ?")
                .bind(limit)
                .fetch_all(&self.readers)
                .await
                .or_store_error()?;
        lines.reverse();
        Ok(lines)
    }
}

impl SqliteStore {
    /// Appends a line and records its redactions, in one transaction.
    pub(super) async fn append_line(
        &self,
        line: &str,
        redactions: &[NewRedaction],
        now: Timestamp,
    ) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        sqlx::query(
            "INSERT INTO command_history (line, created)
             SELECT ?1, ?2 WHERE ?1 IS NOT (SELECT line FROM command_history ORDER BY id DESC LIMIT 1)",
        )
        .bind(line)
        .bind(now.as_millis())
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        insert_redactions(&mut transaction, Source::Line, redactions, now).await?;
        transaction.commit().await.or_store_error()
    }
}
