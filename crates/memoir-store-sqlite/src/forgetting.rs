//! Deletes content and erases its traces from the database file.

use std::path::PathBuf;

use async_trait::async_trait;
use memoir_store::{Forget, ForgetOutcome, Forgetting, Result, StoreError};
use sqlx::{AssertSqlSafe, Sqlite, SqliteConnection, Transaction};

use super::{
    SqliteStore,
    deletion::delete_content,
    error::{SqlResultExt as _, file_error},
    remains,
};

#[async_trait]
impl Forgetting for SqliteStore {
    async fn preview_forget(&self, selection: Forget) -> Result<ForgetOutcome> {
        // Deleting and rolling back gives exact counts.
        let mut transaction = self.begin_write().await?;
        let (outcome, _) = delete_content(&mut transaction, selection).await?;
        transaction.rollback().await.or_store_error()?;
        Ok(outcome)
    }

    async fn forget(&self, selection: Forget) -> Result<ForgetOutcome> {
        let mut transaction = self.begin_write().await?;
        let (mut outcome, texts) = delete_content(&mut transaction, selection).await?;
        outcome.traces_remain = !self.commit_without_trace(transaction, texts).await?;
        Ok(outcome)
    }

    async fn deletion_count(&self) -> Result<i64> {
        // Triggers count them.
        sqlx::query_scalar("SELECT count + chunks + others FROM _deletions")
            .fetch_one(&self.readers)
            .await
            .or_store_error()
    }
}

impl SqliteStore {
    /// Commits a transaction that deletes `texts`, and erases them from the file and its log. Returns `false` if a
    /// concurrent reader prevents the erasure.
    pub(super) async fn commit_without_trace(
        &self,
        mut transaction: Transaction<'_, Sqlite>,
        texts: Vec<String>,
    ) -> Result<bool> {
        for index in INDICES {
            merge_index_if_needed(&mut transaction, index).await?;
        }
        // A row left by a process that was killed before it finished erasing.
        let has_earlier_traces: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM _traces)")
            .fetch_one(&mut *transaction)
            .await
            .or_store_error()?;
        let trace_id: i64 = sqlx::query_scalar("INSERT INTO _traces DEFAULT VALUES RETURNING id")
            .fetch_one(&mut *transaction)
            .await
            .or_store_error()?;
        transaction.commit().await.or_store_error()?;
        if has_earlier_traces {
            // It is unknown what that process deleted, so rewrite the whole file.
            return self.rewrite_file(trace_id).await;
        }
        if !self.truncate_log().await? {
            return Ok(false);
        }
        if self.has_remains(texts).await? {
            return self.rewrite_file(trace_id).await;
        }
        self.clear_traces(trace_id).await.map(|()| true)
    }

    /// Finishes an erasure that an earlier process started but did not complete. Returns `true` if no traces remain.
    pub(super) async fn finish_forgetting(&self) -> Result<bool> {
        let last: Option<i64> = sqlx::query_scalar("SELECT max(id) FROM _traces")
            .fetch_one(self.writer().await?)
            .await
            .or_store_error()?;
        match last {
            // A concurrent reader pins old pages, so only rewrite the file once the log could be truncated.
            Some(last) if self.truncate_log().await? => self.rewrite_file(last).await,
            Some(_) => Ok(false),
            None => Ok(true),
        }
    }

    /// Rewrites the file without the content that was deleted up to this trace. Returns `false` if a concurrent reader
    /// prevents it.
    async fn rewrite_file(&self, through: i64) -> Result<bool> {
        match sqlx::query("VACUUM").execute(self.writer().await?).await.or_store_error() {
            Ok(_) if self.truncate_log().await? => self.clear_traces(through).await.map(|()| true),
            Ok(_) | Err(StoreError::Busy) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn clear_traces(&self, through: i64) -> Result<()> {
        sqlx::query("DELETE FROM _traces WHERE id <= ?")
            .bind(through)
            .execute(self.writer().await?)
            .await
            .map(drop)
            .or_store_error()
    }

    /// Truncates the write-ahead log, which still contains deleted content. Returns `false` if a concurrent reader
    /// prevents it.
    async fn truncate_log(&self) -> Result<bool> {
        let busy: i64 = sqlx::query_scalar("PRAGMA wal_checkpoint(TRUNCATE)")
            .fetch_one(self.writer().await?)
            .await
            .or_store_error()?;
        Ok(busy == 0)
    }

    /// Returns whether parts of these deleted texts remain in the file.
    async fn has_remains(&self, texts: Vec<String>) -> Result<bool> {
        let file: String = sqlx::query_scalar("SELECT file FROM pragma_database_list WHERE name = 'main'")
            .fetch_one(self.writer().await?)
            .await
            .or_store_error()?;
        let path = PathBuf::from(file);
        // An in-memory database leaves no file behind.
        if !path.is_file() {
            return Ok(false);
        }
        let file = path.clone();
        let result = tokio::task::spawn_blocking(move || remains::contains_remains(&file, &texts))
            .await
            .map_err(|error| StoreError::Other(error.into()))?;
        result.map_err(|error| file_error(&path, &error))
    }
}

/// A full-text index, the table of its words, and its indexed column.
struct TextIndex {
    name: &'static str,
    words: &'static str,
    column: &'static str,
}

const INDICES: [TextIndex; 2] = [
    TextIndex { name: "messages_text", words: "_message_words", column: "content" },
    TextIndex { name: "chunks_text", words: "_chunk_words", column: "text" },
];

/// Removes words that no longer occur from the inner pages of an index. Deleting a row only removes them from the
/// leaves.
async fn merge_index_if_needed(connection: &mut SqliteConnection, index: TextIndex) -> Result<()> {
    let TextIndex { name, words, column } = index;
    let has_stale_words: bool = sqlx::query_scalar(AssertSqlSafe(format!(
        "WITH separators (word) AS (SELECT CAST(substr(term, 2) AS TEXT) FROM {name}_idx WHERE length(term) > 1)
         SELECT EXISTS (SELECT 1 FROM separators WHERE NOT EXISTS (
             SELECT 1 FROM {words} WHERE term >= word AND term <= word || char(1114111)))"
    )))
    .fetch_one(&mut *connection)
    .await
    .or_store_error()?;
    if has_stale_words {
        // `optimize` does nothing if the index consists of a single segment, so add a second one first.
        sqlx::raw_sql(AssertSqlSafe(format!(
            "INSERT INTO {name} (rowid, {column}) VALUES (0, 'a');
             INSERT INTO {name} ({name}) VALUES ('optimize');
             INSERT INTO {name} ({name}, rowid, {column}) VALUES ('delete', 0, 'a');"
        )))
        .execute(connection)
        .await
        .or_store_error()?;
    }
    Ok(())
}
