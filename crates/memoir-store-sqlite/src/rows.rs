//! What several tables have in common.

use memoir_core::Usage;
use memoir_store::Result;
use sqlx::{Row as _, SqliteConnection, sqlite::SqliteRow};

use super::error::SqlResultExt as _;

/// SQLite's integers are signed; no count here comes near the limit.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The token columns that exchanges and costs share.
pub(super) fn usage(row: &SqliteRow) -> Result<Usage, sqlx::Error> {
    Ok(Usage {
        input_tokens: row.try_get("input_tokens")?,
        output_tokens: row.try_get("output_tokens")?,
        cached_tokens: row.try_get("cached_tokens")?,
        cache_write_tokens: row.try_get("cache_write_tokens")?,
        reasoning_tokens: row.try_get("reasoning_tokens")?,
    })
}

/// Ids as a list that SQL takes apart with `json_each`: the statement stays the same however many there are.
pub(super) fn list_of(ids: impl Iterator<Item = i64>) -> String {
    format!("[{}]", ids.map(|id| id.to_string()).collect::<Vec<_>>().join(","))
}

/// Returns the ids that a query with one list of ids finds.
pub(super) async fn fetch_ids(
    connection: &mut SqliteConnection,
    sql: &'static str,
    list: &str,
) -> Result<Vec<i64>> {
    sqlx::query_scalar(sql).bind(list).fetch_all(connection).await.or_store_error()
}

/// Runs a statement with one list of ids. Returns how many rows it changed.
pub(super) async fn execute_for(
    connection: &mut SqliteConnection,
    sql: &'static str,
    list: &str,
) -> Result<u64> {
    let done = sqlx::query(sql).bind(list).execute(connection).await.or_store_error()?;
    Ok(done.rows_affected())
}
