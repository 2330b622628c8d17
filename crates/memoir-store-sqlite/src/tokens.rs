//! SQL for tokens.

use async_trait::async_trait;
use memoir_core::{AccessToken, Timestamp};
use memoir_store::{Result, Tokens};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::SqlResultExt as _};

#[async_trait]
impl Tokens for SqliteStore {
    async fn add_token(&self, token: &AccessToken, hash: &str) -> Result<bool> {
        let added = sqlx::query(
            "INSERT INTO tokens (name, hash, scope, rights, created) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT DO NOTHING",
        )
        .bind(&token.name)
        .bind(hash)
        .bind(serde_json::json!(token.scope).to_string())
        .bind(serde_json::json!(token.rights).to_string())
        .bind(token.created.as_millis())
        .execute(self.writer().await?)
        .await
        .or_store_error()?;
        Ok(added.rows_affected() == 1)
    }

    async fn token_with_hash(&self, hash: &str) -> Result<Option<AccessToken>> {
        sqlx::query("SELECT * FROM tokens WHERE hash = ?")
            .bind(hash)
            .try_map(|row| read(&row))
            .fetch_optional(&self.readers)
            .await
            .or_store_error()
    }

    async fn tokens(&self) -> Result<Vec<AccessToken>> {
        sqlx::query("SELECT * FROM tokens ORDER BY name")
            .try_map(|row| read(&row))
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn revoke_token(&self, name: &str) -> Result<bool> {
        let revoked = sqlx::query("DELETE FROM tokens WHERE name = ?")
            .bind(name)
            .execute(self.writer().await?)
            .await
            .or_store_error()?;
        Ok(revoked.rows_affected() == 1)
    }
}

fn read(row: &SqliteRow) -> Result<AccessToken, sqlx::Error> {
    Ok(AccessToken {
        name: row.try_get("name")?,
        scope: serde_json::from_str(row.try_get("scope")?).map_err(invalid)?,
        rights: serde_json::from_str(row.try_get("rights")?).map_err(invalid)?,
        created: Timestamp::from_millis(row.try_get("created")?),
    })
}

fn invalid(error: serde_json::Error) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}
