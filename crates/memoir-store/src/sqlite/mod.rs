//! SQLite behind the store's traits: one file, one writer per process, several processes.
//!
//! This module owns the connections. Its children own the SQL, one area each.

mod commands;
mod conversations;
mod costs;
mod error;
mod exchanges;
#[cfg(feature = "contract")]
mod fill;
mod inspect;
mod memory;
mod migrations;
mod open;
mod rows;
mod settings;
mod text_query;
mod vectors;

use std::sync::Arc;

use sqlx::{Sqlite, SqlitePool, Transaction};
use tokio::sync::Mutex;

use crate::Result;
use error::store_error;
use vectors::Vectors;

pub use migrations::SCHEMA_VERSION;

/// A memory in one SQLite file.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    /// A pool of one: within this process all writing queues here, and never meets itself as busy.
    writer: SqlitePool,
    /// Read-only connections, opened when first needed.
    readers: SqlitePool,
    /// Vectors for searching; derived, filled when first needed.
    vectors: Arc<Mutex<Vectors>>,
}

impl SqliteStore {
    /// A transaction that holds the write lock from its start. A deferred one that reads first and writes
    /// later fails when another process wrote in between, whatever the busy timeout.
    async fn begin_write(&self) -> Result<Transaction<'static, Sqlite>> {
        self.writer.begin_with("BEGIN IMMEDIATE").await.map_err(store_error)
    }

    /// Closes all connections, folding the write-ahead log into the file.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}
