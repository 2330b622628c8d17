//! Maintenance of a store: integrity checks, backups and repairs.

use std::path::Path;

use async_trait::async_trait;

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

/// Checks, backs up and repairs a store.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Returns the schema version.
    fn schema_version(&self) -> i64;

    /// Checks the store. Returns its defects, or an empty list if it is intact.
    async fn check(&self) -> Result<Vec<StoreFault>>;

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
