//! SQL of settings.

use async_trait::async_trait;
use memoir_core::Timestamp;

use super::{SqliteStore, error::store_error};
use crate::{Result, Settings};

#[async_trait]
impl Settings for SqliteStore {
    async fn setting(&self, key: &str) -> Result<Option<String>> {
        sqlx::query_scalar("SELECT value FROM settings WHERE key = ?")
            .bind(key)
            .fetch_optional(&self.readers)
            .await
            .map_err(store_error)
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
        statement.execute(&self.writer).await.map_err(store_error)?;
        Ok(())
    }
}
