//! SQL for permission rules and the redaction log.

use async_trait::async_trait;
use memoir_core::{ExchangeId, Timestamp};
use memoir_store::{Permissions, Redaction, Result, StoredRule};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::SqlResultExt as _};

#[async_trait]
impl Permissions for SqliteStore {
    async fn approval_rules(&self, scope: &str) -> Result<Vec<StoredRule>> {
        sqlx::query(
            "SELECT id, effect, rule, scope FROM approval_rules WHERE scope IN ('', ?) ORDER BY created, id",
        )
        .bind(scope)
        .try_map(|row: SqliteRow| {
            Ok(StoredRule {
                id: row.try_get("id")?,
                effect: row.try_get("effect")?,
                rule: row.try_get("rule")?,
                scope: row.try_get("scope")?,
            })
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    async fn add_approval_rule(&self, effect: &str, rule: &str, scope: &str, now: Timestamp) -> Result<()> {
        sqlx::query(
            "INSERT INTO approval_rules (effect, rule, scope, created) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        )
        .bind(effect)
        .bind(rule)
        .bind(scope)
        .bind(now.as_millis())
        .execute(self.writer().await?)
        .await
        .or_store_error()?;
        Ok(())
    }

    async fn remove_approval_rule(&self, id: i64) -> Result<bool> {
        let result = sqlx::query("DELETE FROM approval_rules WHERE id = ?")
            .bind(id)
            .execute(self.writer().await?)
            .await
            .or_store_error()?;
        Ok(result.rows_affected() == 1)
    }

    async fn redactions(&self, limit: u32) -> Result<Vec<Redaction>> {
        sqlx::query("SELECT * FROM redactions ORDER BY id DESC LIMIT ?")
            .bind(limit)
            .try_map(|row: SqliteRow| {
                Ok(Redaction {
                    exchange_id: row.try_get::<Option<i64>, _>("exchange_id")?.map(ExchangeId::new),
                    place: row.try_get("place")?,
                    kind: row.try_get("kind")?,
                    reason: row.try_get("reason")?,
                    created: Timestamp::from_millis(row.try_get("created")?),
                })
            })
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }
}
