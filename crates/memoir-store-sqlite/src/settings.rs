//! SQL for the `settings` table of keys and values.

use async_trait::async_trait;
use memoir_core::Timestamp;
use memoir_store::{Result, Settings};

use super::{SqliteStore, error::SqlResultExt as _};

#[async_trait]
impl Settings for SqliteStore {
    async fn setting(&self, key: &str) -> Result<Option<String>> {
        sqlx::query_scalar("SELECT value FROM settings WHERE key = ?")
            .bind(key)
            .fetch_optional(&self.readers)
            .await
            .or_store_error()
    }

    async fn settings_in(&self, area: &str) -> Result<Vec<(String, String)>> {
        // A slash follows the dot in ASCII, so this is a range of the index.
        sqlx::query_as(
            "SELECT key, value FROM settings WHERE key > ?1 || '.' AND key < ?1 || '/' ORDER BY key",
        )
        .bind(area)
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    async fn set_setting(&self, key: &str, value: Option<&str>, now: Timestamp) -> Result<()> {
        let statement = match value {
            Some(value) => sqlx::query(
                "INSERT INTO settings (key, value, updated) VALUES (?, ?, ?)
                 ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated = excluded.updated",
            )
            .bind(key)
            .bind(value)
            .bind(now.as_millis()),
            None => sqlx::query("DELETE FROM settings WHERE key = ?").bind(key),
        };
        statement.execute(self.writer().await?).await.or_store_error()?;
        Ok(())
    }
}
