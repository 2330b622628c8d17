//! SQLite behind the store's traits: one file, one writer per process, several processes.
//!
//! This module owns the connections. Its children own the SQL, one area each.
//!
//! # Order
//!
//! Callers may not rely on ids being in order (see `memoir_store`), but the SQL here may: a SQLite file has one writer at a
//! time, every write begins with `BEGIN IMMEDIATE`, and ids are `AUTOINCREMENT`, so that the order of ids is the order of
//! commits, and a row that is seen later never has a smaller id. Exchanges, messages, runs, redactions and the command
//! history are ordered by id for that reason, and the index in memory reads "the rows after the last id".
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
mod commands;
mod commit;
mod conversations;
mod core_memory;
mod costs;
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
mod inspect;
mod job_rows;
mod jobs;
mod kept_log;
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
mod schedules;
mod settings;
mod sources;
mod stems;
mod summaries;
mod upkeep;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use memoir_core::lock;
use memoir_store::Result;
use sqlx::{Sqlite, SqlitePool, Transaction};
use tokio::{sync::RwLock, task::JoinHandle};

use error::SqlResultExt as _;
use index::{Chunks, Graphs, Index};
use stems::Stems;

pub use backend::SqliteBackend;
pub use migrations::SCHEMA_VERSION;

/// So long the store stays open to finish packing.
const LONGEST_PACKING: Duration = Duration::from_secs(2);

/// A memory in one SQLite file.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    /// A pool of one: within this process all writing queues here, and never meets itself as busy.
    writer: SqlitePool,
    /// Read-only connections, opened when first needed.
    readers: SqlitePool,
    /// What searching works on; derived, filled when first needed.
    index: Arc<RwLock<Index>>,
    packing: Arc<AtomicBool>,
    holding: Arc<AtomicBool>,
    searches: Arc<AtomicU32>,
    /// What goes on in the background.
    tasks: Arc<Mutex<Vec<JoinHandle<()>>>>,
    graphs: Arc<Graphs>,
    graph_file: Arc<PathBuf>,
    /// The same for documents.
    chunks: Arc<RwLock<Chunks>>,
    chunk_graphs: Arc<Graphs>,
    chunk_graph_file: Arc<PathBuf>,
    stems: Arc<Stems>,
}

impl SqliteStore {
    /// A transaction that holds the write lock from its start. A deferred one that reads first and writes
    /// later fails when another process wrote in between, whatever the busy timeout.
    async fn begin_write(&self) -> Result<Transaction<'static, Sqlite>> {
        let begun = match self.writer.begin_with("BEGIN IMMEDIATE").await {
            // SQLite undoes by itself what cannot be written for want of room, and the driver takes it for still going on.
            // Another connection knows nothing of that.
            Err(sqlx::Error::InvalidSavePointStatement) => {
                let confused = self.writer.acquire().await.or_store_error()?;
                if let Err(error) = confused.close().await {
                    tracing::debug!(%error, "could not close a connection that is discarded either way");
                }
                self.writer.begin_with("BEGIN IMMEDIATE").await
            }
            begun => begun,
        };
        begun.or_store_error()
    }

    /// Goes on with something in the background, until it is done or the store is closed.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = lock(&self.tasks);
        tasks.retain(|task| !task.is_finished());
        tasks.push(tokio::spawn(task));
    }

    /// Waits for what goes on in the background: packing the index, building a graph.
    pub async fn settle(&self) {
        loop {
            let tasks = std::mem::take(&mut *lock(&self.tasks));
            if tasks.is_empty() {
                break;
            }
            for task in tasks {
                if let Err(error) = task.await {
                    tracing::warn!(%error, "a background task of the store failed; its result is derived and made again when needed");
                }
            }
        }
    }

    /// Whether vectors are searched along a graph, when that is wanted.
    pub async fn has_graph(&self) -> bool {
        let index = self.index.read().await;
        index.coded().is_some_and(|(coded, deletions)| self.graphs.is_there(&coded, deletions))
    }

    /// Closes all connections, folding the write-ahead log into the file. What goes on in the background stops; packing only if it
    /// takes long: what is not packed is read row by row again.
    pub async fn close(&self) {
        self.graphs.stop();
        self.chunk_graphs.stop();
        let mut tasks = std::mem::take(&mut *lock(&self.tasks));
        if tokio::time::timeout(LONGEST_PACKING, join_all(&mut tasks)).await.is_err() {
            // What is not committed is undone.
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
