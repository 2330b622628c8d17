//! SQL of the command history.

use async_trait::async_trait;
use memoir_core::Timestamp;

use super::{
    SqliteStore,
    clean::{Findings, Source},
    error::store_error,
};
use crate::{CommandHistory, Result};

#[async_trait]
impl CommandHistory for SqliteStore {
    async fn append_command(&self, line: &str, now: Timestamp) -> Result<()> {
        let mut findings = Findings::default();
        let line = findings.clean("line", line);
        let mut transaction = self.begin_write().await?;
        sqlx::query(
            "INSERT INTO command_history (line, created)
             SELECT ?1, ?2 WHERE ?1 IS NOT (SELECT line FROM command_history ORDER BY id DESC LIMIT 1)",
        )
        .bind(line)
        .bind(now.as_millis())
        .execute(&mut *transaction)
        .await
        .map_err(store_error)?;
        findings.note(&mut transaction, Source::Line, now).await?;
        transaction.commit().await.map_err(store_error)
    }

    async fn recent_commands(&self, limit: u32) -> Result<Vec<String>> {
        let mut lines: Vec<String> =
            sqlx::query_scalar("SELECT line FROM command_history ORDER BY id DESC LIMIT ?")
                .bind(limit)
                .fetch_all(&self.readers)
                .await
                .map_err(store_error)?;
        lines.reverse();
        Ok(lines)
    }
}
