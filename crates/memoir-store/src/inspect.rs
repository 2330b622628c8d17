//! Looking at the store itself.

use std::time::Duration;

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

/// How far a question to the database may go.
#[derive(Debug, Clone, Copy)]
pub struct QueryLimits {
    /// So many rows are given.
    pub rows: u32,
    /// So long it may take.
    pub time: Duration,
}

/// What a question gave, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryResult {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows; what is absent is NULL.
    pub rows: Vec<Vec<String>>,
    /// Whether there would be more.
    pub more: bool,
}

/// Questions in SQL about the database behind a store. Optional: see [`Store::inspect`](crate::Store::inspect).
#[async_trait]
pub trait Inspect: Send + Sync {
    /// Returns the name of the SQL dialect that [`query`](Self::query) takes, such as `SQLite`.
    fn dialect(&self) -> &'static str;

    /// The tables that hold memory, by name; not those that the database keeps for its own ends.
    async fn tables(&self) -> Result<Vec<TableInfo>>;

    /// How tables are made up: one, or all.
    async fn table_definitions(&self, table: Option<&str>) -> Result<Vec<String>>;

    /// Answers one query, which cannot change anything.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::Query`](crate::StoreError::Query) if the text is not a single query, is not valid in the
    /// dialect, or takes longer than `limits` allow.
    async fn query(&self, question: &str, limits: QueryLimits) -> Result<QueryResult>;
}

/// A store that may have a SQL view of itself.
pub trait Inspectable: Send + Sync {
    /// Returns the SQL view of the store, if it has one.
    fn inspect(&self) -> Option<&dyn Inspect> {
        None
    }
}
