//! Helpers shared by the SQL of several tables.

use std::ops::Range;

use memoir_core::Usage;
use memoir_store::Result;
use sqlx::{Row as _, SqliteConnection, sqlite::SqliteRow};

use super::error::SqlResultExt as _;

/// Converts a count to SQLite's signed integer. No count comes near the limit.
pub(super) fn to_signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Reads the token columns that exchanges and costs share.
pub(super) fn read_usage(row: &SqliteRow) -> Result<Usage, sqlx::Error> {
    Ok(Usage {
        input_tokens: row.try_get("input_tokens")?,
        output_tokens: row.try_get("output_tokens")?,
        cached_tokens: row.try_get("cached_tokens")?,
        cache_write_tokens: row.try_get("cache_write_tokens")?,
        reasoning_tokens: row.try_get("reasoning_tokens")?,
    })
}

/// Reads the position of a part in its text.
pub(super) fn read_range(row: &SqliteRow) -> Result<Range<usize>, sqlx::Error> {
    let offset = |column| Ok::<_, sqlx::Error>(usize::try_from(row.try_get::<i64, _>(column)?).unwrap_or(0));
    Ok(offset("first")?..offset("past")?)
}

/// Returns ids as a JSON array for `json_each`, which keeps the statement the same for any number of ids.
pub(super) fn to_json_list(ids: impl Iterator<Item = i64>) -> String {
    format!("[{}]", ids.map(|id| id.to_string()).collect::<Vec<_>>().join(","))
}

/// Runs a query with one list of ids as its parameter. Returns the ids it selects.
pub(super) async fn fetch_ids(
    connection: &mut SqliteConnection,
    sql: &'static str,
    list: &str,
) -> Result<Vec<i64>> {
    sqlx::query_scalar(sql).bind(list).fetch_all(connection).await.or_store_error()
}

/// Runs a statement with one list of ids as its parameter. Returns the number of rows changed.
pub(super) async fn execute_for(
    connection: &mut SqliteConnection,
    sql: &'static str,
    list: &str,
) -> Result<u64> {
    let result = sqlx::query(sql).bind(list).execute(connection).await.or_store_error()?;
    Ok(result.rows_affected())
}
