//! Implements the store traits with SQLite. A store is one file that several processes can share; each process has one
//! writer.
//!
//! This module owns the connections. Each submodule contains the SQL of one area.
//!
//! # Order
//!
//! Callers must not rely on the order of ids (see `memoir_store`), but the SQL in this crate does. A SQLite file has
//! one writer at a time, every write begins with `BEGIN IMMEDIATE`, and ids are `AUTOINCREMENT`. Ids therefore follow
//! the order of commits, and a row that becomes visible later never has a smaller id. That is why exchanges, messages,
//! runs, redactions and the command history are sorted by id, and why the in-memory index reads the rows after the last
//! id.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//!
//! use memoir_store::{Result, StoreFactory};
//! use memoir_store_sqlite::SqliteBackend;
//!
//! # async fn example() -> Result<()> {
//! let factory = StoreFactory::new(vec![Arc::new(SqliteBackend)]);
//! let store = factory.open(&"sqlite:/var/lib/memoir/memoir.db".parse()?).await?;
//! let titles = store.titles().await?;
//! store.close().await;
//! # Ok(())
//! # }
//! ```

mod backend;
mod changes;
mod commands;
mod commit;
mod continuations;
mod conversations;
mod core_memory;
mod costs;
mod damage;
mod deletion;
mod digests;
mod document_rows;
mod document_search;
mod documents;
mod embeddings;
mod error;
mod exchanges;
mod files;
#[cfg(feature = "fill")]
pub mod fill;
mod forgetting;
mod imports;
mod index;
mod injections;
mod inspect;
mod job_rows;
mod jobs;
mod lineage;
mod marks;
mod memory;
mod migrations;
mod open;
mod permissions;
mod quotations;
mod redactions;
mod remains;
mod rows;
mod salvage;
mod schedules;
mod settings;
mod sources;
mod statistics;
mod stems;
mod summaries;
mod tokens;
mod transcripts;
mod upkeep;
mod wal_guard;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use memoir_core::lock;
use memoir_store::{Result, StoreError, Upkeep as _};
use sqlx::{Sqlite, SqlitePool, Transaction};
use tokio::{sync::RwLock, task::JoinHandle};

use damage::DamageNote;
use error::SqlResultExt as _;
use files::Scratch;
use index::{Chunks, Graphs, Index};
use stems::Stems;

pub use backend::SqliteBackend;
pub use migrations::SCHEMA_VERSION;

/// Maximum time that closing the store waits for packing to finish.
const PACKING_TIMEOUT: Duration = Duration::from_secs(2);

/// A store in one SQLite file.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    /// A pool of one connection. Writes of this process queue here and therefore never find the database busy with each
    /// other.
    writer: SqlitePool,
    /// Read-only connections, opened when first needed.
    readers: SqlitePool,
    /// Search index of messages and summaries. Derived from the database and filled when first needed.
    index: Arc<RwLock<Index>>,
    packing: Arc<AtomicBool>,
    caching: Arc<AtomicBool>,
    searches: Arc<AtomicU32>,
    /// Tasks that pack the index and build graphs. Finished ones are removed when another is spawned.
    tasks: Arc<Mutex<Vec<JoinHandle<()>>>>,
    graphs: Arc<Graphs>,
    graph_file: Arc<PathBuf>,
    /// Search index of documents.
    chunks: Arc<RwLock<Chunks>>,
    chunk_graphs: Arc<Graphs>,
    chunk_graph_file: Arc<PathBuf>,
    stems: Arc<Stems>,
    damage: Arc<DamageNote>,
    /// Number of failures because of damage, in this process, after which the database was checked.
    checked_failures: Arc<AtomicU64>,
    /// Where the database is, if it is a copy for reading.
    _scratch: Option<Arc<Scratch>>,
}

impl SqliteStore {
    /// Returns the connection for writing. Fails if the database is damaged.
    async fn writer(&self) -> Result<&SqlitePool> {
        let failures = damage::failures();
        if failures != self.checked_failures.load(Ordering::Relaxed) {
            self.check_quickly().await?;
            self.checked_failures.store(failures, Ordering::Relaxed);
        }
        match self.damage.read() {
            Some(reason) => Err(StoreError::Damaged { reason }),
            None => Ok(&self.writer),
        }
    }

    /// Begins a transaction that holds the write lock from its start. A deferred transaction that reads first and
    /// writes later fails if another process wrote in between, regardless of the busy timeout.
    async fn begin_write(&self) -> Result<Transaction<'static, Sqlite>> {
        let writer = self.writer().await?;
        let transaction = match writer.begin_with("BEGIN IMMEDIATE").await {
            // When the disk is full, SQLite rolls back the transaction by itself, but the driver still considers it
            // open. A new connection does not have this problem.
            Err(sqlx::Error::InvalidSavePointStatement) => {
                let connection = writer.acquire().await.or_store_error()?;
                if let Err(error) = connection.close().await {
                    tracing::debug!(%error, "could not close a connection that is discarded either way");
                }
                writer.begin_with("BEGIN IMMEDIATE").await
            }
            result => result,
        };
        transaction.or_store_error()
    }

    /// Runs a task in the background until it completes or the store is closed.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = lock(&self.tasks);
        tasks.retain(|task| !task.is_finished());
        tasks.push(tokio::spawn(task));
    }

    /// Waits for background tasks to complete: packing the index and building graphs.
    pub async fn settle(&self) {
        loop {
            let tasks = std::mem::take(&mut *lock(&self.tasks));
            if tasks.is_empty() {
                break;
            }
            for task in tasks {
                if let Err(error) = task.await {
                    tracing::warn!(%error, "a background task of the store failed; its result is rebuilt when needed");
                }
            }
        }
    }

    /// Returns whether a graph for approximate search of message embeddings is loaded.
    pub async fn has_graph(&self) -> bool {
        let index = self.index.read().await;
        index
            .coded_vectors()
            .is_some_and(|(vectors, deletions)| self.graphs.is_available(&vectors, deletions))
    }

    /// Stops background tasks and closes all connections, which copies the write-ahead log into the file.
    ///
    /// Packing gets a little time to finish. Rows that are not packed are read one by one when the store is next
    /// opened.
    pub async fn close(&self) {
        self.graphs.stop();
        self.chunk_graphs.stop();
        let mut tasks = std::mem::take(&mut *lock(&self.tasks));
        if tokio::time::timeout(PACKING_TIMEOUT, join_all(&mut tasks)).await.is_err() {
            // An aborted task rolls back its transaction.
            tasks.iter().for_each(JoinHandle::abort);
            join_all(tasks).await;
        }
        self.packing.store(false, Ordering::SeqCst);
        self.settle().await;
        self.stems.close().await;
        self.readers.close().await;
        self.writer.close().await;
    }
}
