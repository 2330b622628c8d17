//! SQL for integrity checks, backups and repairs.

use std::path::Path;

use async_trait::async_trait;
use memoir_store::{Result, StoreError, StoreFault, Upkeep};
use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};

use super::{
    SCHEMA_VERSION, SqliteStore,
    error::{SqlResultExt as _, file_error, open_error, store_error},
    files::remove_derived_file,
    open::{APPLICATION_ID, lock_for_opening, open_private_file},
};

#[async_trait]
impl Upkeep for SqliteStore {
    fn schema_version(&self) -> i64 {
        SCHEMA_VERSION
    }

    async fn check(&self) -> Result<Vec<StoreFault>> {
        let mut connection = self.readers.acquire().await.or_store_error()?;
        find_faults(&mut connection).await
    }

    async fn back_up(&self, to: &Path) -> Result<()> {
        // Create the file first, so that other users cannot read the copy while it is written.
        open_private_file(to).map_err(|error| file_error(to, &error))?;
        // A reader does not block writers, and its copy is a consistent snapshot.
        let mut connection = self.readers.acquire().await.or_store_error()?;
        sqlx::query("VACUUM INTO ?")
            .bind(to.to_string_lossy().into_owned())
            .execute(&mut *connection)
            .await
            .or_store_error()?;
        match verify(to).await?.first() {
            None => Ok(()),
            Some(fault) => Err(StoreError::Damaged { reason: fault.to_string() }),
        }
    }

    async fn size(&self) -> Result<u64> {
        let (pages, free, size): (i64, i64, i64) = sqlx::query_as(
            "SELECT (SELECT page_count FROM pragma_page_count), (SELECT freelist_count FROM pragma_freelist_count),
                    (SELECT page_size FROM pragma_page_size)",
        )
        .fetch_one(&self.readers)
        .await
        .or_store_error()?;
        Ok(u64::try_from((pages - free) * size).unwrap_or(0))
    }

    async fn recreate_missing_exchanges(&self) -> Result<u64> {
        let mut transaction = self.begin_write().await?;
        // Recreate missing conversations with their ids.
        sqlx::query(
            "INSERT INTO conversations (id, title, scope, model, created, updated)
             SELECT conversation_id, 'Conversation ' || conversation_id, '', 'unknown', min(created), max(created)
             FROM messages WHERE NOT EXISTS (SELECT 1 FROM conversations WHERE id = messages.conversation_id)
             GROUP BY conversation_id",
        )
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        // Recreate missing exchanges with the ids that their messages refer to.
        let result = sqlx::query(
            "INSERT INTO exchanges (id, conversation_id, status, started, completed, user_message, assistant_message, model,
                 input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, tool_call_count, request_count)
             SELECT exchange_id, min(conversation_id), 'completed', min(created), max(created),
                    coalesce((SELECT content FROM messages AS asked WHERE asked.exchange_id = messages.exchange_id
                              AND asked.role = 'user' ORDER BY asked.id LIMIT 1), ''),
                    coalesce((SELECT content FROM messages AS said WHERE said.exchange_id = messages.exchange_id
                              AND said.role = 'assistant' ORDER BY said.id DESC LIMIT 1), ''),
                    'unknown', 0, 0, 0, 0, 0, sum(role = 'tool'), 0
             FROM messages WHERE NOT EXISTS (SELECT 1 FROM exchanges WHERE id = messages.exchange_id)
             GROUP BY exchange_id",
        )
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        transaction.commit().await.or_store_error()?;
        Ok(result.rows_affected())
    }
}

/// Returns the defects of the database in a file, without changing the file.
pub(super) async fn verify(path: &Path) -> Result<Vec<StoreFault>> {
    if !path.is_file() {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    // Opening a write-ahead log would create files next to the database; `immutable` prevents that.
    let options = SqliteConnectOptions::new().filename(path).read_only(true).immutable(true);
    let mut connection =
        SqliteConnection::connect_with(&options).await.map_err(|error| open_error(path, error))?;
    let (application, version): (i64, i64) = sqlx::query_as(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version)",
    )
    .fetch_one(&mut connection)
    .await
    .map_err(|error| open_error(path, error))?;
    if application != APPLICATION_ID {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    if version > SCHEMA_VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), version, supported: SCHEMA_VERSION });
    }
    let faults = find_faults(&mut connection).await;
    if let Err(error) = connection.close().await {
        tracing::debug!(%error, "could not close a read-only connection");
    }
    faults
}

/// Replaces the database at `path` with `backup` and moves the previous one to `aside`. Fails while a program has the
/// database open.
pub(super) async fn restore(backup: &Path, path: &Path, aside: &Path) -> Result<()> {
    if let Some(fault) = verify(backup).await?.into_iter().next() {
        return Err(StoreError::Damaged { reason: fault.to_string() });
    }
    // Prevent other processes from opening the database in the meantime.
    let _lock = lock_for_opening(path).await?;
    match close_exclusively(path).await {
        // No program can have a damaged or foreign file open.
        Ok(()) | Err(StoreError::Damaged { .. } | StoreError::Foreign { .. }) => {}
        Err(error) => return Err(error),
    }
    let temporary = path.with_extension("restoring");
    let result = copy_private(backup, &temporary)
        .and_then(|()| move_aside(path, aside))
        .and_then(|()| std::fs::rename(&temporary, path));
    if result.is_err() && !path.exists() {
        // Undo the move. The error that matters to the caller is the first one.
        if let Err(error) = std::fs::rename(aside, path) {
            tracing::warn!(aside = %aside.display(), %error, "could not move the previous store back");
        }
    }
    remove_derived_file(&temporary);
    // The graphs belong to the embeddings of the previous store.
    for graph in ["graph", "documents.graph"] {
        remove_derived_file(&path.with_extension(graph));
    }
    result.map_err(|error| file_error(path, &error))
}

/// Copies the log into the file and removes it. Fails if another process has the database open.
async fn close_exclusively(path: &Path) -> Result<()> {
    let options = SqliteConnectOptions::new().filename(path);
    let mut connection =
        SqliteConnection::connect_with(&options).await.map_err(|error| open_error(path, error))?;
    let mode =
        sqlx::query_scalar::<_, String>("PRAGMA journal_mode = DELETE").fetch_one(&mut connection).await;
    let close_result = connection.close().await;
    match mode {
        Ok(mode) if mode == "delete" => close_result.or_store_error(),
        Ok(_) => Err(StoreError::Busy),
        Err(error) => Err(store_error(error)),
    }
}

/// Moves a database and its log to another path.
fn move_aside(path: &Path, aside: &Path) -> std::io::Result<()> {
    for suffix in ["-wal", "-shm"] {
        let with_suffix = |path: &Path| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            std::path::PathBuf::from(name)
        };
        // These files exist only if the store was not closed properly.
        match std::fs::rename(with_suffix(path), with_suffix(aside)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(path = %with_suffix(path).display(), %error, "could not move a log that was already copied into the database");
            }
            _ => {}
        }
    }
    std::fs::rename(path, aside)
}

fn copy_private(from: &Path, to: &Path) -> std::io::Result<()> {
    // A restore that was killed leaves its temporary file behind.
    remove_derived_file(to);
    let mut file = open_private_file(to)?;
    std::io::copy(&mut std::fs::File::open(from)?, &mut file)?;
    file.sync_all()
}

async fn find_faults(connection: &mut SqliteConnection) -> Result<Vec<StoreFault>> {
    let damage: Vec<String> =
        sqlx::query_scalar("PRAGMA integrity_check").fetch_all(&mut *connection).await.or_store_error()?;
    let damage = damage.into_iter().filter(|fault| fault != "ok").map(StoreFault::Damage);
    let orphans: Vec<(String, i64)> =
        sqlx::query_as("SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1")
            .fetch_all(connection)
            .await
            .or_store_error()?;
    Ok(damage.chain(orphans.into_iter().map(|(table, rows)| StoreFault::Orphans { table, rows })).collect())
}
