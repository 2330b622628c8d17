//! Looking after the store itself: whether it is sound, copies of it, what came apart.

use std::path::Path;

use async_trait::async_trait;

use crate::Result;

/// Something that is wrong with a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreFault {
    /// Rows refer to others that do not exist.
    #[error("{rows} rows of {table} belong to nothing")]
    Orphans {
        /// The table.
        table: String,
        /// Number of rows.
        rows: i64,
    },
    /// The store is damaged, in the words of the database.
    #[error("{0}")]
    Damage(String),
}

/// Looking after the store itself.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Returns the version of the schema.
    fn schema_version(&self) -> i64;

    /// Returns what is wrong with the store; nothing if it is sound.
    async fn check(&self) -> Result<Vec<StoreFault>>;

    /// Copies the store to `to`, which must not exist yet, as it is at one moment, while others read and write. The copy
    /// is checked before this returns.
    ///
    /// # Errors
    ///
    /// Fails if `to` cannot be written, and with [`StoreError::Damaged`](crate::StoreError::Damaged) if the copy has
    /// defects.
    async fn back_up(&self, to: &Path) -> Result<()>;

    /// How large a copy will be at most, in bytes.
    async fn size(&self) -> Result<u64>;

    /// Gives messages whose exchange is missing an exchange again, and tells how many exchanges that made.
    async fn group_messages(&self) -> Result<u64>;
}
