//! Opening a memory: the one place where connections are made.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use memoir_store::{Result, StoreError};
use sqlx::{
    Connection as _, SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{
    SqliteStore,
    error::{file_error, open_error},
    kept_log::KeptLog,
    migrations::{SCHEMA_VERSION, migrator},
    stems::Stems,
};

/// "Memo" in the file's header: whose file it is.
pub(super) const APPLICATION_ID: i64 = 0x4d65_6d6f;

/// How long a statement waits for another process. Transactions here take milliseconds, so this is reached
/// only when something is badly wrong, and a person has long noticed.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long it may wait for what the next one can do as well.
const A_MOMENT: Duration = Duration::from_millis(100);

/// A turn reads a few things side by side; more connections would only cost memory.
const MOST_READERS: u32 = 4;

impl SqliteStore {
    /// Opens the memory at `path`, making it if there is none and bringing its schema up to date.
    pub async fn open(path: &Path) -> Result<Self> {
        let _alone = lock_for_opening(path).await?;
        let log = KeptLog::link(path).map_err(|error| file_error(path, &error))?;
        let prepared = prepare(path).await;
        let settled = if prepared.is_ok() { log.let_go() } else { log.put_back() };
        let traces =
            prepared.and_then(|traces| settled.map(|()| traces).map_err(|error| file_error(path, &error)))?;
        let options = connect_options(path);
        let writer = pool(1).connect_lazy_with(options.clone());
        let readers = pool(MOST_READERS).connect_lazy_with(options.clone().read_only(true));
        let store = Self::over(writer, readers, path);
        if traces == Traces::Left {
            // A concurrent reader delays this. Opening does not wait for it: the next process to open the store tries again.
            let hurried = pool(1).connect_lazy_with(options.busy_timeout(A_MOMENT));
            match (Self { writer: hurried.clone(), ..store.clone() }).finish_forgetting().await {
                Ok(true) => {}
                Ok(false) => tracing::debug!(
                    "a reader delays the erasure of deleted text; it is tried again at the next start"
                ),
                Err(error) => {
                    tracing::warn!(%error, "could not erase deleted text; it is tried again at the next start");
                }
            }
            hurried.close().await;
        }
        Ok(store)
    }

    /// A memory that is nowhere but in this process, and gone when it is closed.
    pub async fn in_memory() -> Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        // SQLite shares what has a name like this among the connections of one process.
        let name = PathBuf::from(format!("/memoir-{}", MADE.fetch_add(1, Ordering::Relaxed)));
        let options = connect_options(&name).vfs("memdb").create_if_missing(true);
        // It lives as long as the connection that writes.
        let writer = pool(1).connect_with(options.clone()).await.map_err(|error| open_error(&name, error))?;
        let mut connection = writer.acquire().await.map_err(|error| open_error(&name, error))?;
        migrate(&mut connection).await.map_err(|error| open_error(&name, error))?;
        drop(connection);
        let readers = pool(MOST_READERS).connect_lazy_with(options.read_only(true));
        Ok(Self::over(writer, readers, &name))
    }

    fn over(writer: SqlitePool, readers: SqlitePool, path: &Path) -> Self {
        Self {
            writer,
            readers,
            index: Arc::default(),
            packing: Arc::default(),
            holding: Arc::default(),
            searches: Arc::default(),
            tasks: Arc::default(),
            graphs: Arc::default(),
            graph_file: Arc::new(path.with_extension("graph")),
            chunks: Arc::default(),
            chunk_graphs: Arc::default(),
            chunk_graph_file: Arc::new(path.with_extension("documents.graph")),
            stems: Arc::new(Stems::new()),
        }
    }
}

fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(BUSY_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
        // A connection to a file does not go stale.
        .test_before_acquire(false)
}

fn connect_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        // Every commit reaches the disk: what was acknowledged survives a power cut.
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        // What is deleted is overwritten, not merely unlinked.
        .pragma("secure_delete", "on")
}

/// Makes the directory and the empty file, readable by their owner alone, and holds a lock beside the file
/// until it is dropped, so that no two processes create or migrate one memory at once.
pub(super) async fn lock_for_opening(path: &Path) -> Result<File> {
    let path = path.to_owned();
    // Waiting for the lock blocks a thread; the one who holds it may need this runtime to get on.
    tokio::task::spawn_blocking(move || lock_blocking(&path))
        .await
        .map_err(|error| StoreError::Other(error.into()))?
}

fn lock_blocking(path: &Path) -> Result<File> {
    let denied = |error| file_error(path, &error);
    if let Some(directory) = path.parent() {
        create_private_directory(directory).map_err(denied)?;
    }
    let mut lock_path = path.as_os_str().to_owned();
    lock_path.push(".lock");
    let lock = private_file(&PathBuf::from(lock_path)).map_err(denied)?;
    lock.lock().map_err(denied)?;
    private_file(path).map_err(denied)?;
    Ok(lock)
}

fn create_private_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Opens a file for writing, making it if need be. SQLite gives its log and shared memory the mode of the
/// database, so that they are private too.
pub(super) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Checks whose file this is and brings the schema up to date. The connection sets nothing that is kept in the
/// file, so that one which is not ours stays as it is, to the byte.
async fn prepare(path: &Path) -> Result<Traces> {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY_TIMEOUT);
    let connected = SqliteConnection::connect_with(&options).await;
    let mut connection = connected.map_err(|error| open_error(path, error))?;
    let prepared = identify_and_migrate(&mut connection, path).await;
    let closed = connection.close().await.map_err(|error| open_error(path, error));
    closed.and(prepared)
}

/// Whether something may be left of text that was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Traces {
    Left,
    Gone,
}

async fn identify_and_migrate(connection: &mut SqliteConnection, path: &Path) -> Result<Traces> {
    let (application, version, objects): (i64, i64, i64) = sqlx::query_as(
        "SELECT (SELECT application_id FROM pragma_application_id),
                (SELECT user_version FROM pragma_user_version),
                (SELECT count(*) FROM sqlite_schema)",
    )
    .fetch_one(&mut *connection)
    .await
    .map_err(|error| open_error(path, error))?;

    let empty = application == 0 && objects == 0;
    if application != APPLICATION_ID && !empty {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    if version > SCHEMA_VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found: version, known: SCHEMA_VERSION });
    }
    if version < SCHEMA_VERSION {
        migrate(connection).await.map_err(|error| match error {
            // Damage and full disks keep their meaning; what else fails here is about the file.
            sqlx::Error::Migrate(source) => StoreError::Other(source),
            other => open_error(path, other),
        })?;
    }
    // Now that it is known to be ours. The mode is kept in the file, so that this is nothing from the second
    // time on.
    let write_ahead = sqlx::query("PRAGMA journal_mode = WAL").execute(&mut *connection).await;
    write_ahead.map_err(|error| open_error(path, error))?;
    let left = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM _traces)").fetch_one(connection).await;
    Ok(if left.map_err(|error| open_error(path, error))? { Traces::Left } else { Traces::Gone })
}

/// Runs what is missing and marks the file, all in one transaction.
async fn migrate(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    // `Migrator::run` is this call behind a bound that no spawned future can satisfy (sqlx's own comment says so).
    migrator().run_direct(None, &mut *transaction, false).await?;
    sqlx::query(sqlx::AssertSqlSafe(format!("PRAGMA application_id = {APPLICATION_ID}")))
        .execute(&mut *transaction)
        .await?;
    sqlx::query(sqlx::AssertSqlSafe(format!("PRAGMA user_version = {SCHEMA_VERSION}")))
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await
}
