//! SQL for integrity checks, backups and repairs.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use memoir_store::{Result, Salvage, StoreError, StoreFault, Upkeep};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};

use super::{
    SCHEMA_VERSION, SqliteStore,
    damage::DamageNote,
    error::{SqlResultExt as _, file_error, open_error, store_error},
    files::{SUFFIXES, copy_private, copy_with_log, remove_derived_file, with_suffix},
    open::{APPLICATION_ID, lock_for_opening, open_private_file},
    salvage::{ZEROED_BYTES, salvage},
    wal_guard::WalGuard,
};

#[async_trait]
impl Upkeep for SqliteStore {
    fn schema_version(&self) -> i64 {
        SCHEMA_VERSION
    }

    async fn check(&self) -> Result<Vec<StoreFault>> {
        let mut connection = self.readers.acquire().await.or_store_error()?;
        let faults = to_faults(find_faults(&mut connection, Thoroughness::Full).await)?;
        self.damage.update(&faults);
        Ok(faults)
    }

    async fn check_quickly(&self) -> Result<Vec<StoreFault>> {
        let mut reader = StoppableReader::connect(self).await?;
        let faults = to_faults(find_faults(&mut reader.connection, Thoroughness::Quick).await)?;
        // Less than a full check is not enough to call a database intact that was found damaged before.
        if !faults.is_empty() {
            self.damage.update(&faults);
        }
        Ok(faults)
    }

    fn damage(&self) -> Option<String> {
        self.damage.read()
    }

    async fn back_up(&self, to: &Path) -> Result<()> {
        // Create the file first, so that other users cannot read the copy while it is written.
        open_private_file(to).map_err(|error| file_error(to, &error))?;
        // A reader does not block writers, and its copy is a consistent snapshot.
        let mut reader = StoppableReader::connect(self).await?;
        sqlx::query("VACUUM INTO ?")
            .bind(to.to_string_lossy().into_owned())
            .execute(&mut reader.connection)
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
        let recreated = recreate_exchanges(&mut transaction).await?;
        transaction.commit().await.or_store_error()?;
        Ok(recreated)
    }
}

/// Recreates the conversations and exchanges that messages refer to. Returns the number of exchanges.
pub(super) async fn recreate_exchanges(connection: &mut SqliteConnection) -> Result<u64> {
    sqlx::query(
        "INSERT INTO conversations (id, title, scope, model, created, updated)
         SELECT conversation_id, 'Conversation ' || conversation_id, '', 'unknown', min(created), max(created)
         FROM messages WHERE NOT EXISTS (SELECT 1 FROM conversations WHERE id = messages.conversation_id)
         GROUP BY conversation_id",
    )
    .execute(&mut *connection)
    .await
    .or_store_error()?;
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
    .execute(&mut *connection)
    .await
    .or_store_error()?;
    Ok(result.rows_affected())
}

/// A connection whose statement stops when it is dropped. A statement that nobody waits for would otherwise run to its
/// end.
struct StoppableReader {
    connection: SqliteConnection,
    is_stopped: Arc<AtomicBool>,
}

impl StoppableReader {
    async fn connect(store: &SqliteStore) -> Result<Self> {
        let options = store.readers.connect_options();
        let mut connection = SqliteConnection::connect_with(&options).await.or_store_error()?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_stopped);
        let keeps_running = move || !flag.load(Ordering::Relaxed);
        connection.lock_handle().await.or_store_error()?.set_progress_handler(10_000, keeps_running);
        Ok(Self { connection, is_stopped })
    }
}

impl Drop for StoppableReader {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
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
    let faults = find_faults(&mut connection, Thoroughness::Full).await;
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
        .and_then(|()| keep_aside(path, aside))
        .and_then(|()| std::fs::rename(&temporary, path));
    remove_derived_file(&temporary);
    if result.is_ok() {
        remove_leftovers(path);
    }
    result.map_err(|error| file_error(path, &error))
}

/// Replaces the database at `path` with one that contains its readable rows, and moves the damaged one to `aside`.
/// Fails while a program has the database open.
pub(super) async fn repair(path: &Path, aside: &Path) -> Result<Salvage> {
    let _lock = lock_for_opening(path).await?;
    let repaired = path.with_extension("repairing");
    let remove = || {
        for suffix in ["", "-journal"] {
            remove_derived_file(&with_suffix(&repaired, suffix));
        }
    };
    // A repair that was killed leaves its files behind.
    remove();
    let result = replace_with_salvage(path, &repaired, aside).await;
    remove();
    result
}

async fn replace_with_salvage(path: &Path, repaired: &Path, aside: &Path) -> Result<Salvage> {
    WalGuard::recover(path).map_err(|error| file_error(path, &error))?;
    copy_with_log(path, aside).map_err(|error| file_error(aside, &error))?;
    match close_exclusively(path).await {
        Err(StoreError::Busy) => {
            // What a program is writing may be incomplete in the copy.
            SUFFIXES.iter().for_each(|suffix| remove_derived_file(&with_suffix(aside, suffix)));
            return Err(StoreError::Busy);
        }
        Ok(()) => {
            // Another program may have written while the file was copied. Now none has it open, and it has no log.
            SUFFIXES.iter().for_each(|suffix| remove_derived_file(&with_suffix(aside, suffix)));
            copy_with_log(path, aside).map_err(|error| file_error(aside, &error))?;
        }
        Err(_) => {}
    }
    let report = salvage(aside, repaired).await?;
    if let Some(fault) = verify(repaired).await?.into_iter().next() {
        return Err(StoreError::Other(format!("the repaired database is damaged: {fault}").into()));
    }
    // The log of the damaged database must not be applied to the new one.
    LOG_SUFFIXES.iter().for_each(|suffix| remove_derived_file(&with_suffix(path, suffix)));
    std::fs::rename(repaired, path).map_err(|error| file_error(path, &error))?;
    remove_leftovers(path);
    Ok(report)
}

/// Suffixes of the files next to a database that is open or was not closed properly.
const LOG_SUFFIXES: [&str; 2] = ["-wal", "-shm"];

/// Removes what belongs to the previous database at `path`.
fn remove_leftovers(path: &Path) {
    for graph in ["graph", "documents.graph"] {
        remove_derived_file(&path.with_extension(graph));
    }
    DamageNote::of(path).remove();
}

/// Copies the log into the file and removes it. Fails if another process has the database open.
async fn close_exclusively(path: &Path) -> Result<()> {
    let guard = WalGuard::link(path).map_err(|error| file_error(path, &error))?;
    let result = remove_log(path).await;
    let cleanup = if result.is_ok() { guard.release() } else { guard.restore() };
    result.and_then(|()| cleanup.map_err(|error| file_error(path, &error)))
}

async fn remove_log(path: &Path) -> Result<()> {
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

/// Keeps a database that is about to be replaced, and its log, at another path. There is a database at `path` at any
/// moment, so that no process creates an empty one.
fn keep_aside(path: &Path, aside: &Path) -> std::io::Result<()> {
    if std::fs::hard_link(path, aside).is_err() {
        // Not every file system has hard links.
        copy_private(path, aside)?;
    }
    for suffix in LOG_SUFFIXES {
        // These files exist only if the store was not closed properly.
        match std::fs::rename(with_suffix(path, suffix), with_suffix(aside, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(path = %with_suffix(path, suffix).display(), %error, "could not move a log that was already copied into the database");
            }
            _ => {}
        }
    }
    Ok(())
}

/// How much of a database is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thoroughness {
    /// Every page.
    Quick,
    /// Also that indexes agree with their tables.
    Full,
}

/// Counts an error that reports damage as a fault.
fn to_faults(result: Result<Vec<StoreFault>>) -> Result<Vec<StoreFault>> {
    match result {
        Err(StoreError::Damaged { reason }) => Ok(vec![StoreFault::Damage(reason)]),
        result => result,
    }
}

async fn find_faults(
    connection: &mut SqliteConnection,
    thoroughness: Thoroughness,
) -> Result<Vec<StoreFault>> {
    let check = match thoroughness {
        Thoroughness::Quick => "PRAGMA quick_check(10)",
        Thoroughness::Full => "PRAGMA integrity_check(100)",
    };
    let damage: Vec<String> = sqlx::query_scalar(check).fetch_all(&mut *connection).await.or_store_error()?;
    let mut damage: Vec<StoreFault> =
        damage.into_iter().filter(|fault| fault != "ok").map(StoreFault::Damage).collect();
    if damage.is_empty() {
        damage = find_zeroed_texts(connection).await?;
    }
    let orphans: Vec<(String, i64)> =
        sqlx::query_as("SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1")
            .fetch_all(connection)
            .await
            .or_store_error()?;
    Ok(damage
        .into_iter()
        .chain(orphans.into_iter().map(|(table, rows)| StoreFault::Orphans { table, rows }))
        .collect())
}

/// Returns texts that end with many null characters: the page with their end was zeroed. SQLite does not notice that.
/// Programs print a few null characters, which are no fault.
async fn find_zeroed_texts(connection: &mut SqliteConnection) -> Result<Vec<StoreFault>> {
    let columns: Vec<(String, String)> = sqlx::query_as(
        "SELECT list.name, info.name FROM pragma_table_list AS list, pragma_table_info(list.name) AS info
         WHERE list.schema = 'main' AND list.type = 'table' AND info.type = 'TEXT'",
    )
    .fetch_all(&mut *connection)
    .await
    .or_store_error()?;
    let mut faults = Vec::new();
    for (table, column) in columns {
        // The names come from the schema, which only migrations write.
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT count(*) FROM \"{table}\" WHERE substr(CAST(\"{column}\" AS BLOB), -{ZEROED_BYTES}) = zeroblob({ZEROED_BYTES})"
        )))
        .fetch_one(&mut *connection)
        .await
        .or_store_error()?;
        if count > 0 {
            faults
                .push(StoreFault::Damage(format!("the end of a text in {table} is overwritten with zeros")));
        }
    }
    Ok(faults)
}
