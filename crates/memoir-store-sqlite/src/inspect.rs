//! SQL that inspects the database itself.

use std::time::Instant;

use async_trait::async_trait;
use memoir_store::{Inspect, QueryLimits, QueryResult, Result, StoreError, TableInfo};
use sqlx::{AssertSqlSafe, Column as _, Row as _, TypeInfo as _, ValueRef as _, sqlite::SqliteRow};

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
        let result = sqlx::query(limited).fetch_all(&mut *connection).await;
        connection.lock_handle().await.or_store_error()?.remove_progress_handler();
        let mut rows = result.map_err(|error| match &error {
            sqlx::Error::Database(cause) if cause.message().contains("interrupt") => {
                StoreError::Query(format!("the query took longer than {} s", limits.time.as_secs_f64()))
            }
            sqlx::Error::Database(cause) => StoreError::Query(cause.message().to_owned()),
            _ => store_error(error),
        })?;
        let is_truncated = rows.len() > limits.rows as usize;
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
