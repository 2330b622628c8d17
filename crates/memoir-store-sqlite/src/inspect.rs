//! SQL that inspects the database itself.

use std::time::Instant;

use async_trait::async_trait;
use futures::{TryStreamExt as _, stream::BoxStream};
use memoir_store::{Inspect, QueryLimits, QueryResult, Result, StoreError, TableInfo};
use sqlx::{
    AssertSqlSafe, Column as _, Row as _, TypeInfo as _, ValueRef as _,
    sqlite::{LockedSqliteHandle, SqliteRow},
};

use super::{
    SqliteStore,
    error::{SqlResultExt as _, store_error},
};

#[async_trait]
impl Inspect for SqliteStore {
    fn dialect(&self) -> &'static str {
        "SQLite"
    }

    async fn tables(&self) -> Result<Vec<TableInfo>> {
        // Virtual tables and their shadow tables are indexes of other tables. Names that start with an underscore or
        // with `sqlite_` belong to internal tables.
        let names: Vec<String> = sqlx::query_scalar(
            r"SELECT name FROM pragma_table_list
              WHERE schema = 'main' AND type = 'table'
                AND name NOT LIKE '\_%' ESCAPE '\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
              ORDER BY name",
        )
        .fetch_all(&self.readers)
        .await
        .or_store_error()?;
        let mut tables = Vec::with_capacity(names.len());
        for name in names {
            // The name comes from the schema, which only migrations write.
            let count = AssertSqlSafe(format!("SELECT count(*) FROM \"{name}\""));
            let rows: i64 = sqlx::query_scalar(count).fetch_one(&self.readers).await.or_store_error()?;
            tables.push(TableInfo { name, rows: u64::try_from(rows).unwrap_or(0) });
        }
        Ok(tables)
    }

    async fn table_definitions(&self, table: Option<&str>) -> Result<Vec<String>> {
        sqlx::query_scalar(
            r"SELECT sql FROM sqlite_schema
              WHERE type = 'table' AND sql IS NOT NULL AND (?1 IS NULL OR name = ?1)
                AND name NOT LIKE '\_%' ESCAPE '\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
              ORDER BY name",
        )
        .bind(table)
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    async fn query(&self, sql: &str, limits: QueryLimits) -> Result<QueryResult> {
        let sql = sql.trim().trim_end_matches(';').trim_end();
        if may_be_several_statements(sql) {
            return Err(StoreError::Query("the query must be a single statement without comments".into()));
        }
        let mut connection = self.readers.acquire().await.or_store_error()?;
        let deadline = Instant::now() + limits.time;
        connection
            .lock_handle()
            .await
            .or_store_error()?
            .set_progress_handler(1000, move || Instant::now() < deadline);
        // Only a query parses as a subquery. The connection is read-only anyway.
        let limited = AssertSqlSafe(format!("SELECT * FROM (\n{sql}\n) LIMIT {}", limits.rows + 1));
        let previous =
            set_value_limit(&mut connection.lock_handle().await.or_store_error()?, MAX_VALUE_BYTES);
        let result = fetch_rows(sqlx::query(limited).fetch(&mut *connection), MAX_RESULT_BYTES).await;
        let mut handle = connection.lock_handle().await.or_store_error()?;
        set_value_limit(&mut handle, previous);
        handle.remove_progress_handler();
        drop(handle);
        let (mut rows, is_cut) = result.map_err(|error| match &error {
            sqlx::Error::Database(cause) if cause.message().contains("interrupt") => {
                StoreError::Query(format!("the query took longer than {} s", limits.time.as_secs_f64()))
            }
            sqlx::Error::Database(cause) if cause.message().contains("too big") => {
                let megabytes = MAX_VALUE_BYTES / 1_000_000;
                StoreError::Query(format!("a value is longer than {megabytes} MB; select a part of it"))
            }
            sqlx::Error::Database(cause) => StoreError::Query(cause.message().to_owned()),
            _ => store_error(error),
        })?;
        let is_truncated = is_cut || rows.len() > limits.rows as usize;
        rows.truncate(limits.rows as usize);
        let columns =
            rows.first().map(|row| row.columns().iter().map(|column| column.name().to_owned()).collect());
        Ok(QueryResult {
            columns: columns.unwrap_or_default(),
            rows: rows
                .iter()
                .map(|row| (0..row.len()).map(|index| format_cell(row, index)).collect())
                .collect(),
            is_truncated,
        })
    }
}

/// Maximum size of a value, and of all values of a result, in bytes.
const MAX_VALUE_BYTES: i32 = 1_000_000;
const MAX_RESULT_BYTES: usize = 1_000_000;

/// Sets the maximum size of the values that a connection computes, and returns the previous one.
fn set_value_limit(handle: &mut LockedSqliteHandle<'_>, bytes: i32) -> i32 {
    // SAFETY: the handle is valid and locked, and the function only changes a number in it.
    #[expect(unsafe_code, reason = "sqlx does not offer this function")]
    unsafe {
        libsqlite3_sys::sqlite3_limit(
            handle.as_raw_handle().as_ptr(),
            libsqlite3_sys::SQLITE_LIMIT_LENGTH,
            bytes,
        )
    }
}

/// Collects rows until they exceed a size. Returns whether they did.
async fn fetch_rows(
    mut rows: BoxStream<'_, std::result::Result<SqliteRow, sqlx::Error>>,
    max_bytes: usize,
) -> std::result::Result<(Vec<SqliteRow>, bool), sqlx::Error> {
    let (mut fetched, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.try_next().await? {
        bytes += (0..row.len()).map(|index| cell_size(&row, index)).sum::<usize>();
        if bytes > max_bytes && !fetched.is_empty() {
            return Ok((fetched, true));
        }
        fetched.push(row);
    }
    Ok((fetched, false))
}

/// Returns the size of a text or blob in bytes. Reading a number this way would change it.
fn cell_size(row: &SqliteRow, index: usize) -> usize {
    match row.try_get_raw(index) {
        Ok(value) if matches!(value.type_info().name(), "TEXT" | "BLOB") => {
            row.try_get_unchecked::<&[u8], _>(index).map_or(0, <[u8]>::len)
        }
        _ => 0,
    }
}

/// Returns whether the text may contain more than one statement: it has a semicolon outside quotes, a comment, which
/// could hide one, or an unterminated quote.
fn may_be_several_statements(sql: &str) -> bool {
    let mut rest = sql;
    while let Some(start) = rest.find([';', '\'', '"', '`', '[', '-', '/']) {
        let token = &rest[start..];
        let end = match token.as_bytes()[0] {
            b';' => return true,
            quote @ (b'\'' | b'"' | b'`') => token[1..].find(char::from(quote)).map(|end| end + 2),
            b'[' => token.find(']').map(|end| end + 1),
            _ if token.starts_with("--") || token.starts_with("/*") => return true,
            _ => Some(1),
        };
        match end {
            Some(end) => rest = &token[end..],
            None => return true,
        }
    }
    false
}

/// Returns a value as text.
fn format_cell(row: &SqliteRow, index: usize) -> String {
    let Ok(value) = row.try_get_raw(index) else { return "?".into() };
    if value.is_null() {
        return "NULL".into();
    }
    let kind = value.type_info();
    let text = match kind.name() {
        "INTEGER" => row.try_get::<i64, _>(index).map(|number| number.to_string()),
        "REAL" => row.try_get::<f64, _>(index).map(|number| number.to_string()),
        "BLOB" => row.try_get::<&[u8], _>(index).map(|bytes| format!("[{} bytes]", bytes.len())),
        _ => row.try_get::<String, _>(index),
    };
    text.unwrap_or_else(|_| "?".into())
}

#[cfg(test)]
mod tests {
    use super::may_be_several_statements;

    #[test]
    fn several_statements_are_detected() {
        for sql in [
            "SELECT 1",
            "SELECT ';'",
            "SELECT 'it''s; fine'",
            "SELECT \"a;b\"",
            "SELECT 5 - 3 / 1, [a;b]",
            "SELECT '-- /*'",
        ] {
            assert!(!may_be_several_statements(sql), "{sql}");
        }
        for sql in [
            "SELECT 1; SELECT 2",
            "SELECT 1) ; ATTACH 'x' AS y; SELECT * FROM (SELECT 2",
            "SELECT '' ;",
            "SELECT 1 --\n; x",
            "SELECT 1) /*/ ' */ ; VACUUM INTO \"x\"; SELECT * FROM (SELECT 1 /*/ ' */",
            "SELECT 1) LIMIT 99999 /*",
            "SELECT 'open",
        ] {
            assert!(may_be_several_statements(sql), "{sql}");
        }
    }
}
