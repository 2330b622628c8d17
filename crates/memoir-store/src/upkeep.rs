//! Maintenance of a store: integrity checks, backups and repairs.

use std::path::Path;

use async_trait::async_trait;
use serde::Serialize;

use crate::Result;

/// A defect of a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreFault {
    /// Rows refer to rows in other tables that do not exist.
    #[error("{table} contains {rows} orphaned {}", if .rows == &1 { "row" } else { "rows" })]
    Orphans {
        /// Table that contains the rows.
        table: String,
        /// Number of such rows.
        rows: i64,
    },
    /// The database reports this damage.
    #[error("{0}")]
    Damage(String),
}

/// What was salvaged from a damaged store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Salvage {
    /// Number of rows by table, sorted by name.
    pub tables: Vec<SalvagedTable>,
    /// Number of messages that were lost and recreated from their exchanges, which repeat questions and answers.
    pub recreated_messages: u64,
    /// Number of exchanges that were lost and recreated from their messages.
    pub recreated_exchanges: u64,
    /// Number of rows that referred to lost rows, and were deleted or had the reference removed.
    pub dropped_rows: u64,
    /// Number of pages that should belong to a table or index and cannot be read.
    pub unreadable_pages: u64,
}

impl Salvage {
    /// Returns the number of salvaged and lost rows of a table.
    pub fn table(&self, name: &str) -> (u64, u64) {
        let table = self.tables.iter().find(|table| table.name == name);
        table.map_or((0, 0), |table| (table.salvaged, table.lost))
    }
}

/// The rows of a table in a damaged store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SalvagedTable {
    /// Name of the table.
    pub name: String,
    /// Number of rows that were salvaged.
    pub salvaged: u64,
    /// Number of rows that are known to be lost: unreadable, or missing although an index refers to them.
    pub lost: u64,
}

/// Checks, backs up and repairs a store.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Returns the schema version.
    fn schema_version(&self) -> i64;

    /// Checks the store thoroughly. Returns its defects, or an empty list if it is intact. If the store is damaged, it
    /// is not written to any more.
    async fn check(&self) -> Result<Vec<StoreFault>>;

    /// Like [`check`](Self::check), but skips checks that take long. Dropping the future stops the check.
    async fn check_quickly(&self) -> Result<Vec<StoreFault>>;

    /// Returns a description of the damage that an earlier check found. Such a store can be read but not written to.
    fn damage(&self) -> Option<String>;

    /// Writes a consistent copy of the store to `to`, which must not exist yet, and checks the copy. Other processes
    /// can read and write meanwhile.
    ///
    /// # Errors
    ///
    /// Fails if `to` cannot be written, and with [`StoreError::Damaged`](crate::StoreError::Damaged) if the copy has
    /// defects.
    async fn back_up(&self, to: &Path) -> Result<()>;

    /// Returns the maximum size of a backup, in bytes.
    async fn size(&self) -> Result<u64>;

    /// Recreates the missing exchanges of messages that have none. Returns the number of exchanges created.
    async fn recreate_missing_exchanges(&self) -> Result<u64>;
}
