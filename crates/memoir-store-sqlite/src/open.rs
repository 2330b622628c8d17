//! Opens databases. All connections of a store are configured here.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
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
    damage::{self, DamageNote},
    error::{SqlResultExt as _, file_error, open_error},
    files::{Scratch, copy_with_log, with_suffix},
    migrations::{SCHEMA_VERSION, migrator},
    salvage::contains_memory,
    stems::Stems,
    wal_guard::WalGuard,
};

/// Identifies a Memoir database in the file's header: "Memo" in ASCII.
pub(super) const APPLICATION_ID: i64 = 0x4d65_6d6f;

/// Maximum time a statement waits for another process. Transactions take milliseconds, so this is reached only when
/// something is badly wrong.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum time that opening waits to erase deleted text. The next process to open the store tries again.
const ERASURE_TIMEOUT: Duration = Duration::from_millis(100);

/// Maximum number of concurrent readers. A turn runs only a few queries at once, and each connection costs memory.
const MAX_READERS: u32 = 4;

impl SqliteStore {
    /// Opens the database at `path`. Creates it if it does not exist, and migrates its schema to the current version.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written, is not a Memoir database, or was written by a newer version.
    pub async fn open(path: &Path) -> Result<Self> {
        let lock = lock_for_opening(path).await?;
        let guard = WalGuard::link(path).map_err(|error| file_error(path, &error))?;
        let opened = match open_guarded(path, lock.has_log).await {
            // A damaged header looks like a file of another kind.
            Err(StoreError::Foreign { .. }) if contains_memory(path).await? => {
                Err(StoreError::Damaged { reason: "its header is unreadable".into() })
            }
            opened => opened,
        };
        let cleanup = if opened.is_ok() { guard.release() } else { guard.restore() };
        let (store, has_traces) =
            opened.and_then(|opened| cleanup.map(|()| opened).map_err(|error| file_error(path, &error)))?;
        // A damaged database must not be written to.
        if has_traces && store.damage.read().is_none() {
            let eraser = pool(1).connect_lazy_with(connect_options(path).busy_timeout(ERASURE_TIMEOUT));
            match (Self { writer: eraser.clone(), ..store.clone() }).finish_forgetting().await {
                Ok(true) => {}
                Ok(false) => tracing::debug!(
                    "a concurrent reader prevents the erasure of deleted text; retrying at the next start"
                ),
                Err(error) => {
                    tracing::warn!(%error, "could not erase deleted text; retrying at the next start");
                }
            }
            eraser.close().await;
        }
        Ok(store)
    }

    /// Opens the database at `path` for reading, without changing anything on its disk. If the database has a log that
    /// was not copied yet, or an earlier schema, a copy in `scratch` is opened, which is deleted with the store.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, is not a Memoir database, or cannot be copied.
    pub async fn open_for_reading(path: &Path, scratch: &Path) -> Result<Self> {
        let log = fs::metadata(with_suffix(path, "-wal"));
        if log.is_err() || log.is_ok_and(|log| log.len() == 0) {
            let options = SqliteConnectOptions::new().filename(path).read_only(true).immutable(true);
            let mut connection =
                SqliteConnection::connect_with(&options).await.map_err(|error| open_error(path, error))?;
            let identity: (i64, i64) = sqlx::query_as(
                "SELECT (SELECT application_id FROM pragma_application_id),
                        (SELECT user_version FROM pragma_user_version)",
            )
            .fetch_one(&mut connection)
            .await
            .map_err(|error| open_error(path, error))?;
            connection.close().await.or_store_error()?;
            if identity == (APPLICATION_ID, SCHEMA_VERSION) {
                let readers = pool(MAX_READERS).connect_lazy_with(options);
                return Ok(Self::from_pools(readers.clone(), readers, path));
            }
        }
        let scratch = Scratch::create(scratch).map_err(|error| file_error(scratch, &error))?;
        let copy = scratch.0.join("memoir.db");
        copy_with_log(path, &copy).map_err(|error| file_error(&copy, &error))?;
        let store = Self::open(&copy).await?;
        Ok(Self { _scratch: Some(Arc::new(scratch)), ..store })
    }

    /// Opens an empty in-memory database, which is lost when the store is closed.
    ///
    /// # Errors
    ///
    /// Fails if SQLite cannot create the database.
    pub async fn in_memory() -> Result<Self> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        // All connections of the process share a database whose name starts with a slash.
        let name = PathBuf::from(format!("/memoir-{}", COUNTER.fetch_add(1, Ordering::Relaxed)));
        let options = connect_options(&name).vfs("memdb").create_if_missing(true);
        // The database exists as long as a connection to it is open, so the writer connects right away.
        let writer = pool(1).connect_with(options.clone()).await.map_err(|error| open_error(&name, error))?;
        let mut connection = writer.acquire().await.map_err(|error| open_error(&name, error))?;
        migrate(&mut connection).await.map_err(|error| open_error(&name, error))?;
        drop(connection);
        let readers = pool(MAX_READERS).connect_lazy_with(options.read_only(true));
        Ok(Self::from_pools(writer, readers, &name))
    }

    fn from_pools(writer: SqlitePool, readers: SqlitePool, path: &Path) -> Self {
        Self {
            writer,
            readers,
            index: Arc::default(),
            packing: Arc::default(),
            caching: Arc::default(),
            searches: Arc::default(),
            tasks: Arc::default(),
            graphs: Arc::default(),
            graph_file: Arc::new(path.with_extension("graph")),
            chunks: Arc::default(),
            chunk_graphs: Arc::default(),
            chunk_graph_file: Arc::new(path.with_extension("documents.graph")),
            stems: Arc::new(Stems::new()),
            damage: Arc::new(DamageNote::of(path)),
            checked_failures: Arc::new(AtomicU64::new(damage::failures())),
            _scratch: None,
        }
    }
}

fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(BUSY_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
        // Connections to a file do not go stale.
        .test_before_acquire(false)
}

fn connect_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        // Sync every commit to disk, so that committed data survives a power failure.
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        // Overwrite deleted content with zeros.
        .pragma("secure_delete", "on")
}

/// Returns the options of a connection that only reads. It sets nothing that is for writing, such as the mode of the log,
/// which would take a lock.
fn read_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path).read_only(true).busy_timeout(BUSY_TIMEOUT)
}

/// Creates the directory and an empty file, accessible only to their owner, and locks a file next to the database. The
/// lock is held until it is dropped, so that no two processes create or migrate a database at the same time.
pub(super) async fn lock_for_opening(path: &Path) -> Result<OpeningLock> {
    let path = path.to_owned();
    // Waiting for the lock blocks a thread, and the lock's holder may need this runtime to proceed.
    tokio::task::spawn_blocking(move || lock_blocking(&path))
        .await
        .map_err(|error| StoreError::Other(error.into()))?
}

/// The lock of a process that opens a database.
pub(super) struct OpeningLock {
    _file: File,
    /// Whether the database has a write-ahead log, according to its header. The header is read while there is no
    /// connection, because closing a file releases all locks that the process holds on it.
    has_log: bool,
}

fn lock_blocking(path: &Path) -> Result<OpeningLock> {
    let to_store_error = |error| file_error(path, &error);
    if let Some(directory) = path.parent() {
        create_private_directory(directory).map_err(to_store_error)?;
    }
    let mut lock_path = path.as_os_str().to_owned();
    lock_path.push(".lock");
    let lock = open_private_file(&PathBuf::from(lock_path)).map_err(to_store_error)?;
    lock.lock().map_err(to_store_error)?;
    let mut header = Vec::new();
    let file = open_private_file(path).map_err(to_store_error)?;
    file.take(20).read_to_end(&mut header).map_err(to_store_error)?;
    Ok(OpeningLock { _file: lock, has_log: header.get(18..) == Some(&[2, 2]) })
}

fn create_private_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Opens a file for writing, creating it with access for its owner only. SQLite gives its log and shared-memory file
/// the same mode as the database.
pub(super) fn open_private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Opens a database whose log is kept. `has_log` is whether it has one. Returns whether deleted text may remain in the file.
async fn open_guarded(path: &Path, has_log: bool) -> Result<(SqliteStore, bool)> {
    // This connection sets no persistent options, so a foreign file is not modified.
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY_TIMEOUT);
    let mut first =
        SqliteConnection::connect_with(&options).await.map_err(|error| open_error(path, error))?;
    let opened = match identify_and_migrate(&mut first, path, has_log).await {
        Ok(()) => connect(path).await,
        Err(error) => Err(error),
    };
    // Closing the last connection to a database deletes its log, so this one is closed after others are open.
    let closed = first.close().await.map_err(|error| open_error(path, error));
    opened.and_then(|opened| closed.map(|()| opened))
}

/// Connects to a database that is known and current. Returns whether deleted text may remain in the file.
async fn connect(path: &Path) -> Result<(SqliteStore, bool)> {
    const HAS_TRACES: &str = "SELECT EXISTS (SELECT 1 FROM _traces)";
    let writer = pool(1).connect_lazy_with(connect_options(path));
    let readers = pool(MAX_READERS).connect_lazy_with(read_options(path));
    let has_traces = async {
        let (mut reader, mut other) = tokio::try_join!(readers.acquire(), readers.acquire())?;
        // The first queries need two connections. Both read the schema at the same time.
        let (has_traces, _): (bool, bool) = tokio::try_join!(
            sqlx::query_scalar(HAS_TRACES).fetch_one(&mut *reader),
            sqlx::query_scalar(HAS_TRACES).fetch_one(&mut *other)
        )?;
        Ok(has_traces)
    };
    match has_traces.await {
        Ok(has_traces) => Ok((SqliteStore::from_pools(writer, readers, path), has_traces)),
        Err(error) => {
            readers.close().await;
            Err(open_error(path, error))
        }
    }
}

/// Checks that the file is a Memoir database and migrates its schema. `has_log` is whether it has a write-ahead log.
async fn identify_and_migrate(connection: &mut SqliteConnection, path: &Path, has_log: bool) -> Result<()> {
    // These two are in the header of the file. Every other statement reads the whole schema first, which takes
    // milliseconds.
    let application = read_number(connection, "PRAGMA application_id", path).await?;
    let version = read_number(connection, "PRAGMA user_version", path).await?;
    let is_empty =
        application == 0 && read_number(connection, "SELECT count(*) FROM sqlite_schema", path).await? == 0;
    if application != APPLICATION_ID && !is_empty {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    if version > SCHEMA_VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), version, supported: SCHEMA_VERSION });
    }
    let damage = DamageNote::of(path);
    if is_empty {
        damage.remove();
    }
    if let Some(reason) = damage.read() {
        // A damaged database can be read if its schema is current, and must not be written to.
        return match version == SCHEMA_VERSION {
            true => Ok(()),
            false => Err(StoreError::Damaged { reason }),
        };
    }
    if version < SCHEMA_VERSION {
        migrate(connection).await.map_err(|error| match error {
            // Every other error, such as damage or a full disk, keeps its own meaning.
            sqlx::Error::Migrate(source) => StoreError::Other(source),
            other => open_error(path, other),
        })?;
    }
    // The file is a Memoir database, so it may be changed. The mode is persistent.
    if !has_log {
        sqlx::query("PRAGMA journal_mode = WAL")
            .execute(&mut *connection)
            .await
            .map_err(|error| open_error(path, error))?;
    }
    Ok(())
}

async fn read_number(connection: &mut SqliteConnection, statement: &'static str, path: &Path) -> Result<i64> {
    sqlx::query_scalar(statement).fetch_one(connection).await.map_err(|error| open_error(path, error))
}

/// Runs the missing migrations in one transaction.
async fn migrate(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    run_migrations(&mut transaction).await?;
    transaction.commit().await
}

/// Runs the missing migrations and sets the application id and schema version.
pub(super) async fn run_migrations(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    // `Migrator::run` makes this call too, but has a bound that no spawned future can satisfy (see the comment in
    // sqlx).
    migrator().run_direct(None, &mut *connection, false).await?;
    sqlx::query(sqlx::AssertSqlSafe(format!("PRAGMA application_id = {APPLICATION_ID}")))
        .execute(&mut *connection)
        .await?;
    sqlx::query(sqlx::AssertSqlSafe(format!("PRAGMA user_version = {SCHEMA_VERSION}")))
        .execute(connection)
        .await?;
    Ok(())
}
