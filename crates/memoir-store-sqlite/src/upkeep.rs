//! SQL that looks after the database: checks, copies, what came apart.

use std::path::Path;

use async_trait::async_trait;
use memoir_store::{Result, StoreError, StoreFault, Upkeep};
use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};

use super::{
    SCHEMA_VERSION, SqliteStore,
    error::{SqlResultExt as _, file_error, open_error, store_error},
    files::remove_derived_file,
    open::{APPLICATION_ID, lock_for_opening, private_file},
};

#[async_trait]
impl Upkeep for SqliteStore {
    fn schema_version(&self) -> i64 {
        SCHEMA_VERSION
    }

    async fn check(&self) -> Result<Vec<StoreFault>> {
        let mut connection = self.readers.acquire().await.or_store_error()?;
        faults(&mut connection).await
    }

    async fn back_up(&self, to: &Path) -> Result<()> {
        // So that nobody else reads it while it grows.
        private_file(to).map_err(|error| file_error(to, &error))?;
        // A connection of its own: whoever writes meanwhile is not kept waiting, and the copy is of one moment.
        let mut connection = self.readers.acquire().await.or_store_error()?;
        sqlx::query("VACUUM INTO ?")
            .bind(to.to_string_lossy().into_owned())
            .execute(&mut *connection)
            .await
            .or_store_error()?;
        let said = verify(to).await?;
        match said.first() {
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

    async fn group_messages(&self) -> Result<u64> {
        let mut transaction = self.begin_write().await?;
        // A conversation that is missing too comes back under its number.
        sqlx::query(
            "INSERT INTO conversations (id, title, scope, model, created, updated)
             SELECT conversation_id, 'Conversation ' || conversation_id, '', 'unknown', min(created), max(created)
             FROM messages WHERE NOT EXISTS (SELECT 1 FROM conversations WHERE id = messages.conversation_id)
             GROUP BY conversation_id",
        )
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        // Messages know their exchange by its number, so that it comes back as it was, as far as they tell.
        let grouped = sqlx::query(
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
        Ok(grouped.rows_affected())
    }
}

/// What is wrong with the memory in a file, which is left as it is.
pub(super) async fn verify(path: &Path) -> Result<Vec<StoreFault>> {
    if !path.is_file() {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    // Nothing is written beside it either, as opening a write-ahead log would.
    let options = SqliteConnectOptions::new().filename(path).read_only(true).immutable(true);
    let connected = SqliteConnection::connect_with(&options).await;
    let mut connection = connected.map_err(|error| open_error(path, error))?;
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
        return Err(StoreError::Newer { path: path.to_owned(), found: version, known: SCHEMA_VERSION });
    }
    let faults = faults(&mut connection).await;
    if let Err(error) = connection.close().await {
        tracing::debug!(%error, "could not close a connection that only read");
    }
    faults
}

/// Puts the memory of `backup` in the place of the one at `path`, which is kept as `aside`. Refused while a program has that one open.
pub(super) async fn restore(backup: &Path, path: &Path, aside: &Path) -> Result<()> {
    if let Some(fault) = verify(backup).await?.into_iter().next() {
        return Err(StoreError::Damaged { reason: fault.to_string() });
    }
    // Nobody opens it meanwhile.
    let _alone = lock_for_opening(path).await?;
    match close_for_all(path).await {
        // Of what is no memory any more nobody has one open.
        Ok(()) | Err(StoreError::Damaged { .. } | StoreError::Foreign { .. }) => {}
        Err(error) => return Err(error),
    }
    let arriving = path.with_extension("restoring");
    let copied = copy_private(backup, &arriving).and_then(|()| put_aside(path, aside));
    let placed = copied.and_then(|()| std::fs::rename(&arriving, path));
    if placed.is_err() && !path.exists() {
        // Put the previous store back. The error that matters to the caller is the first one.
        if let Err(error) = std::fs::rename(aside, path) {
            tracing::warn!(aside = %aside.display(), %error, "could not put the previous store back; it is kept aside");
        }
    }
    remove_derived_file(&arriving);
    // They link vectors of the previous store.
    for graph in ["graph", "documents.graph"] {
        remove_derived_file(&path.with_extension(graph));
    }
    placed.map_err(|error| file_error(path, &error))
}

/// Folds the log into the file, which succeeds only when nobody else has it open.
async fn close_for_all(path: &Path) -> Result<()> {
    let options = SqliteConnectOptions::new().filename(path);
    let connected = SqliteConnection::connect_with(&options).await;
    let mut connection = connected.map_err(|error| open_error(path, error))?;
    let mode =
        sqlx::query_scalar::<_, String>("PRAGMA journal_mode = DELETE").fetch_one(&mut connection).await;
    let closed = connection.close().await;
    match mode {
        Ok(mode) if mode == "delete" => closed.or_store_error(),
        Ok(_) => Err(StoreError::Busy),
        Err(error) => Err(store_error(error)),
    }
}

/// Moves a memory away, with what may lie beside it.
fn put_aside(path: &Path, aside: &Path) -> std::io::Result<()> {
    for beside in ["-wal", "-shm"] {
        let named = |path: &Path| {
            let mut name = path.as_os_str().to_owned();
            name.push(beside);
            std::path::PathBuf::from(name)
        };
        // These exist only if the store was not closed in order.
        match std::fs::rename(named(path), named(aside)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(path = %named(path).display(), %error, "could not move a log aside; the database has its content");
            }
            _ => {}
        }
    }
    std::fs::rename(path, aside)
}

fn copy_private(from: &Path, to: &Path) -> std::io::Result<()> {
    // Left by a restore that was killed.
    remove_derived_file(to);
    let mut file = private_file(to)?;
    std::io::copy(&mut std::fs::File::open(from)?, &mut file)?;
    file.sync_all()
}

async fn faults(connection: &mut SqliteConnection) -> Result<Vec<StoreFault>> {
    let damage: Vec<String> =
        sqlx::query_scalar("PRAGMA integrity_check").fetch_all(&mut *connection).await.or_store_error()?;
    let damage = damage.into_iter().filter(|fault| fault != "ok").map(StoreFault::Damage);
    let loose: Vec<(String, i64)> =
        sqlx::query_as("SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1")
            .fetch_all(connection)
            .await
            .or_store_error()?;
    Ok(damage.chain(loose.into_iter().map(|(table, rows)| StoreFault::Orphans { table, rows })).collect())
}
