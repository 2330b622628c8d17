//! Deleting content so that no trace of it is left in the file.

use std::path::PathBuf;

use async_trait::async_trait;
use memoir_store::{Forget, Forgetting, Forgotten, Result, StoreError};
use sqlx::{AssertSqlSafe, Sqlite, SqliteConnection, Transaction};

use super::{
    SqliteStore,
    deletion::delete_content,
    error::{SqlResultExt as _, file_error},
    remains,
};

#[async_trait]
impl Forgetting for SqliteStore {
    async fn would_forget(&self, what: Forget) -> Result<Forgotten> {
        // Deleting and rolling back gives exact numbers.
        let mut transaction = self.begin_write().await?;
        let (forgotten, _) = delete_content(&mut transaction, what).await?;
        transaction.rollback().await.or_store_error()?;
        Ok(forgotten)
    }

    async fn forget(&self, what: Forget) -> Result<Forgotten> {
        let mut transaction = self.begin_write().await?;
        let (mut forgotten, texts) = delete_content(&mut transaction, what).await?;
        forgotten.traces_are_left = !self.commit_without_trace(transaction, texts).await?;
        Ok(forgotten)
    }
}

impl SqliteStore {
    /// Commits a transaction that deletes some texts and erases them from the file and its log. Returns `false` if a
    /// concurrent reader prevents that for now.
    pub(super) async fn commit_without_trace(
        &self,
        mut transaction: Transaction<'_, Sqlite>,
        texts: Vec<String>,
    ) -> Result<bool> {
        for index in INDICES {
            merge_index_if_needed(&mut transaction, index).await?;
        }
        // A row left by a process that was killed before it finished erasing.
        let others: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM _traces)")
            .fetch_one(&mut *transaction)
            .await
            .or_store_error()?;
        let own: i64 = sqlx::query_scalar("INSERT INTO _traces DEFAULT VALUES RETURNING id")
            .fetch_one(&mut *transaction)
            .await
            .or_store_error()?;
        transaction.commit().await.or_store_error()?;
        if others {
            // What that process deleted is no longer known, so the whole file is rewritten.
            return self.rewrite_file(own).await;
        }
        if !self.empty_log().await? {
            return Ok(false);
        }
        if self.holds_remains(texts).await? {
            return self.rewrite_file(own).await;
        }
        self.clear_traces(own).await.map(|()| true)
    }

    /// Finishes an erasure that an earlier process started but did not complete. Returns `true` if no traces remain.
    pub(super) async fn finish_forgetting(&self) -> Result<bool> {
        let last: Option<i64> = sqlx::query_scalar("SELECT max(id) FROM _traces")
            .fetch_one(&self.writer)
            .await
            .or_store_error()?;
        match last {
            // A concurrent reader pins old pages, so only rewrite the file once the log could be truncated.
            Some(last) if self.empty_log().await? => self.rewrite_file(last).await,
            Some(_) => Ok(false),
            None => Ok(true),
        }
    }

    /// Rewrites the file, so that nothing is left of what was deleted up to this trace. Returns `false` if a concurrent
    /// reader prevents that for now.
    async fn rewrite_file(&self, through: i64) -> Result<bool> {
        match sqlx::query("VACUUM").execute(&self.writer).await.or_store_error() {
            Ok(_) if self.empty_log().await? => self.clear_traces(through).await.map(|()| true),
            Ok(_) | Err(StoreError::Busy) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn clear_traces(&self, through: i64) -> Result<()> {
        let noted =
            sqlx::query("DELETE FROM _traces WHERE id <= ?").bind(through).execute(&self.writer).await;
        noted.map(drop).or_store_error()
    }

    /// Truncates the write-ahead log, which still holds what was deleted from the pages. Returns `false` if a concurrent
    /// reader prevents that for now.
    async fn empty_log(&self) -> Result<bool> {
        let busy: i64 = sqlx::query_scalar("PRAGMA wal_checkpoint(TRUNCATE)")
            .fetch_one(&self.writer)
            .await
            .or_store_error()?;
        Ok(busy == 0)
    }

    /// Whether something of texts that were deleted is left in the file.
    async fn holds_remains(&self, texts: Vec<String>) -> Result<bool> {
        let file: String = sqlx::query_scalar("SELECT file FROM pragma_database_list WHERE name = 'main'")
            .fetch_one(&self.writer)
            .await
            .or_store_error()?;
        let path = PathBuf::from(file);
        // One that is in memory alone goes as a whole.
        if !path.is_file() {
            return Ok(false);
        }
        let (name, looked) = (path.clone(), move || remains::are_left(&path, &texts));
        let left =
            tokio::task::spawn_blocking(looked).await.map_err(|error| StoreError::Other(error.into()))?;
        left.map_err(|error| file_error(&name, &error))
    }
}

/// A full-text index, the table of its words, and the column that it is over.
struct TextIndex {
    name: &'static str,
    words: &'static str,
    column: &'static str,
}

const INDICES: [TextIndex; 2] = [
    TextIndex { name: "messages_text", words: "_message_words", column: "content" },
    TextIndex { name: "chunks_text", words: "_chunk_words", column: "text" },
];

/// Takes words that nobody has any more out of the inner pages of an index. Deleting a row takes them out of its leaves alone.
async fn merge_index_if_needed(connection: &mut SqliteConnection, index: TextIndex) -> Result<()> {
    let TextIndex { name, words, column } = index;
    let left: bool = sqlx::query_scalar(AssertSqlSafe(format!(
        "WITH separators (word) AS (SELECT CAST(substr(term, 2) AS TEXT) FROM {name}_idx WHERE length(term) > 1)
         SELECT EXISTS (SELECT 1 FROM separators WHERE NOT EXISTS (
             SELECT 1 FROM {words} WHERE term >= word AND term <= word || char(1114111)))"
    )))
    .fetch_one(&mut *connection)
    .await
    .or_store_error()?;
    if left {
        // An index in one piece would stay as it is: it gets a second, and is then merged.
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
