//! SQL for core memory.

use async_trait::async_trait;
use memoir_core::{CoreBlock, CoreChange, CoreEntry, Timestamp};
use memoir_store::{ChangeOutcome, CoreMemory, NewRedaction, Result};
use sqlx::{Row as _, SqliteConnection, sqlite::SqliteRow};

use super::{
    SqliteStore,
    error::SqlResultExt as _,
    redactions::{Source, insert_redactions},
    rows::to_signed,
};

/// Maximum number of changes of each block that can be undone.
const MAX_UNDO: i64 = 20;

#[async_trait]
impl CoreMemory for SqliteStore {
    async fn core_memory(&self, project: &str) -> Result<Vec<CoreEntry>> {
        let rows: Vec<(String, String, u64)> = sqlx::query(
            "SELECT block, content, version FROM core_memory
             WHERE scope = CASE block WHEN 'project' THEN ? ELSE '' END",
        )
        .bind(project)
        .try_map(|row: SqliteRow| {
            Ok((row.try_get("block")?, row.try_get("content")?, row.try_get("version")?))
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()?;
        let entry = |block: CoreBlock| {
            let row = rows.iter().find(|(name, ..)| name == block.as_str());
            let (text, version) =
                row.map_or((String::new(), 0), |(_, text, version)| (text.clone(), *version));
            CoreEntry { block, text, version }
        };
        Ok(CoreBlock::ALL.map(entry).to_vec())
    }

    async fn change_core_memory(&self, project: &str, change: &CoreChange) -> Result<ChangeOutcome> {
        self.change_block(project, change, &[]).await
    }

    async fn undo_core_memory(&self, project: &str, at: Timestamp) -> Result<Option<CoreEntry>> {
        let mut transaction = self.begin_write().await?;
        let entry = sqlx::query(
            "DELETE FROM core_memory_changes WHERE id = (
                 SELECT max(id) FROM core_memory_changes
                 WHERE scope = CASE block WHEN 'project' THEN ? ELSE '' END)
             RETURNING block, before,
                 (SELECT version FROM core_memory AS now
                  WHERE now.scope = core_memory_changes.scope AND now.block = core_memory_changes.block) AS version",
        )
        .bind(project)
        .try_map(|row: SqliteRow| {
            let block: String = row.try_get("block")?;
            let block = block.parse().map_err(|error: memoir_core::UnknownBlock| sqlx::Error::Decode(error.into()))?;
            Ok(CoreEntry { block, text: row.try_get("before")?, version: row.try_get("version")? })
        })
        .fetch_optional(&mut *transaction)
        .await
        .or_store_error()?;
        let Some(mut entry) = entry else { return Ok(None) };
        let text = entry.text.clone();
        write_block(&mut transaction, project, &entry, &text, at).await?;
        transaction.commit().await.or_store_error()?;
        entry.version += 1;
        Ok(Some(entry))
    }
}

impl SqliteStore {
    /// Changes a block and records its redactions, in one transaction.
    pub(super) async fn change_block(
        &self,
        project: &str,
        change: &CoreChange,
        redactions: &[NewRedaction],
    ) -> Result<ChangeOutcome> {
        let mut transaction = self.begin_write().await?;
        if !write_block(&mut transaction, project, &change.previous, &change.text, change.created).await? {
            return Ok(ChangeOutcome::Conflict);
        }
        let block = change.previous.block;
        sqlx::query(
            "INSERT INTO core_memory_changes (scope, block, before, after, changed_by, created)
             VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(block.scope(project))
        .bind(block.as_str())
        .bind(&change.previous.text)
        .bind(&change.text)
        .bind(change.author.as_str())
        .bind(change.created.as_millis())
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        insert_redactions(&mut transaction, Source::Line, redactions, change.created).await?;
        sqlx::query(
            "DELETE FROM core_memory_changes WHERE id IN (
                 SELECT id FROM core_memory_changes WHERE scope = ? AND block = ?
                 ORDER BY id DESC LIMIT -1 OFFSET ?)",
        )
        .bind(block.scope(project))
        .bind(block.as_str())
        .bind(MAX_UNDO)
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        transaction.commit().await.or_store_error()?;
        Ok(ChangeOutcome::Applied)
    }
}

/// Writes a block if it is still at the version in `previous`. Returns whether it was written.
async fn write_block(
    connection: &mut SqliteConnection,
    project: &str,
    previous: &CoreEntry,
    text: &str,
    at: Timestamp,
) -> Result<bool> {
    let result = sqlx::query(
        "INSERT INTO core_memory (scope, block, content, version, updated)
         SELECT ?1, ?2, ?3, 1, ?5 WHERE ?4 = 0 OR EXISTS (SELECT 1 FROM core_memory WHERE scope = ?1 AND block = ?2)
         ON CONFLICT DO UPDATE SET content = excluded.content, version = version + 1, updated = excluded.updated
         WHERE version = ?4",
    )
    .bind(previous.block.scope(project))
    .bind(previous.block.as_str())
    .bind(text)
    .bind(to_signed(previous.version))
    .bind(at.as_millis())
    .execute(connection)
    .await
    .or_store_error()?;
    Ok(result.rows_affected() == 1)
}
