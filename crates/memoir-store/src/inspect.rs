//! Read-only SQL access to the database behind a store.

use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;

use crate::Result;

/// A table of the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableInfo {
    /// Name of the table.
    pub name: String,
    /// Number of rows at the time of the call.
    pub rows: u64,
}

/// Limits on a query.
#[derive(Debug, Clone, Copy)]
pub struct QueryLimits {
    /// Maximum number of rows to return.
    pub rows: u32,
    /// Maximum time the query may run.
    pub time: Duration,
}

/// The result of a query, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryResult {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Values by row and column. A missing value is the text `NULL`.
    pub rows: Vec<Vec<String>>,
    /// Whether rows beyond the limit were cut off.
    pub is_truncated: bool,
}

/// Runs SQL queries on the database behind a store. Optional: see [`Inspectable`].
#[async_trait]
pub trait Inspect: Send + Sync {
    /// Returns the name of the SQL dialect that [`query`](Self::query) takes, such as `SQLite`.
    fn dialect(&self) -> &'static str;

    /// Returns the tables that hold Memoir's data, by name, without the database's internal tables.
    async fn tables(&self) -> Result<Vec<TableInfo>>;

    /// Returns the definition of one table, or of all tables.
    async fn table_definitions(&self, table: Option<&str>) -> Result<Vec<String>>;

    /// Runs one read-only query.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::Query`](crate::StoreError::Query) if the text is not a single query, is not valid in
    /// the dialect, or takes longer than `limits` allow.
    async fn query(&self, sql: &str, limits: QueryLimits) -> Result<QueryResult>;
}

/// A store that may offer SQL access.
pub trait Inspectable: Send + Sync {
    /// Returns the SQL interface of the store, if it has one.
    fn inspect(&self) -> Option<&dyn Inspect> {
        None
    }
}
