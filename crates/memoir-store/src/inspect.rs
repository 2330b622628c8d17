//! Looking at the store itself.

use async_trait::async_trait;
use serde::Serialize;

use crate::Result;

/// A table and its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// How many rows it has.
    pub rows: u64,
}

/// Looking at the store itself.
#[async_trait]
pub trait Inspect: Send + Sync {
    /// The version of the schema.
    fn schema_version(&self) -> i64;

    /// The tables that hold memory, by name; not those that the database keeps for its own ends.
    async fn tables(&self) -> Result<Vec<TableInfo>>;
}
