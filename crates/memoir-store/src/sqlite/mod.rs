//! SQLite behind the store's traits: one file, one writer per process, several processes.
//!
//! This module owns the connections. Its children own the SQL, one area each.

mod clean;
mod commands;
mod conversations;
mod core_memory;
mod costs;
mod digests;
mod documents;
mod embeddings;
mod error;
mod exchanges;
#[cfg(feature = "contract")]
pub mod fill;
mod forgetting;
mod imports;
mod index;
mod inspect;
mod jobs;
mod kept_log;
mod lineage;
mod marks;
mod memory;
mod migrations;
mod open;
mod permissions;
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
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use sqlx::{Sqlite, SqlitePool, Transaction};
use tokio::{sync::RwLock, task::JoinHandle};

use crate::Result;
use error::store_error;
use index::{Chunks, Graphs, Index};
use stems::Stems;

pub use migrations::SCHEMA_VERSION;
pub use upkeep::{restore, verify};

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
                let confused = self.writer.acquire().await.map_err(store_error)?;
                // It is gone, however it goes.
                let _ = confused.close().await;
                self.writer.begin_with("BEGIN IMMEDIATE").await
            }
            begun => begun,
        };
        begun.map_err(store_error)
    }

    /// Goes on with something in the background, until it is done or the store is closed.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(tokio::spawn(task));
    }

    /// Waits for what goes on in the background: packing the index, building a graph.
    pub async fn settle(&self) {
        loop {
            let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
            if tasks.is_empty() {
                break;
            }
            for task in tasks {
                // One that crashed is over as well.
                let _ = task.await;
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
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
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
