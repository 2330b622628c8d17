//! What several tables have in common.

use memoir_core::Usage;
use sqlx::{Row as _, sqlite::SqliteRow};

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
