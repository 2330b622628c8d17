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
pub struct Answer {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows; what is absent is NULL.
    pub rows: Vec<Vec<String>>,
    /// Whether there would be more.
    pub more: bool,
}

/// Looking at the store itself.
#[async_trait]
pub trait Inspect: Send + Sync {
    /// The version of the schema.
    fn schema_version(&self) -> i64;

    /// The tables that hold memory, by name; not those that the database keeps for its own ends.
    async fn tables(&self) -> Result<Vec<TableInfo>>;

    /// How tables are made up: one, or all.
    async fn table_definitions(&self, table: Option<&str>) -> Result<Vec<String>>;

    /// Answers a question in the database's own language. Nothing but one question is taken, and nothing can be changed.
    async fn query(&self, question: &str, limits: QueryLimits) -> Result<Answer>;
}
