//! SQL that looks at the database itself.

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
        // Virtual tables and their shadows are indexes of other tables; names with an underscore in front
        // or `sqlite_` are bookkeeping.
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
            // The name comes from the schema itself, which only our migrations write.
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

    async fn query(&self, question: &str, limits: QueryLimits) -> Result<QueryResult> {
        let question = question.trim().trim_end_matches(';').trim_end();
        if is_more_than_one(question) {
            return Err(StoreError::Query("only one statement is taken, without comments".into()));
        }
        let mut connection = self.readers.acquire().await.or_store_error()?;
        let deadline = Instant::now() + limits.time;
        connection
            .lock_handle()
            .await
            .or_store_error()?
            .set_progress_handler(1000, move || Instant::now() < deadline);
        // Inside brackets only a question is one: nothing else parses there. The connection can only read, anyway.
        let asked = AssertSqlSafe(format!("SELECT * FROM (\n{question}\n) LIMIT {}", limits.rows + 1));
        let answered = sqlx::query(asked).fetch_all(&mut *connection).await;
        connection.lock_handle().await.or_store_error()?.remove_progress_handler();
        let mut rows = answered.map_err(|error| match &error {
            sqlx::Error::Database(said) if said.message().contains("interrupt") => {
                StoreError::Query(format!("it took longer than {} s", limits.time.as_secs_f64()))
            }
            sqlx::Error::Database(said) => StoreError::Query(said.message().to_owned()),
            _ => store_error(error),
        })?;
        let more = rows.len() > limits.rows as usize;
        rows.truncate(limits.rows as usize);
        let columns =
            rows.first().map(|row| row.columns().iter().map(|column| column.name().to_owned()).collect());
        Ok(QueryResult {
            columns: columns.unwrap_or_default(),
            rows: rows.iter().map(|row| (0..row.len()).map(|index| text(row, index)).collect()).collect(),
            more,
        })
    }
}

/// Whether a text is, or may be, more than one statement: quoted text aside, a semicolon says so. Comments are refused, since what
/// they hide is not worth finding out, and so is quoted text that does not end.
fn is_more_than_one(sql: &str) -> bool {
    let mut rest = sql;
    while let Some(at) = rest.find([';', '\'', '"', '`', '[', '-', '/']) {
        let found = &rest[at..];
        let end = match found.as_bytes()[0] {
            b';' => return true,
            quote @ (b'\'' | b'"' | b'`') => found[1..].find(char::from(quote)).map(|end| end + 2),
            b'[' => found.find(']').map(|end| end + 1),
            _ if found.starts_with("--") || found.starts_with("/*") => return true,
            _ => Some(1),
        };
        match end {
            Some(end) => rest = &found[end..],
            None => return true,
        }
    }
    false
}

/// A value as text.
fn text(row: &SqliteRow, index: usize) -> String {
    let Ok(value) = row.try_get_raw(index) else { return "?".into() };
    if value.is_null() {
        return "NULL".into();
    }
    let kind = value.type_info();
    let read = match kind.name() {
        "INTEGER" => row.try_get::<i64, _>(index).map(|number| number.to_string()),
        "REAL" => row.try_get::<f64, _>(index).map(|number| number.to_string()),
        "BLOB" => row.try_get::<&[u8], _>(index).map(|bytes| format!("[{} bytes]", bytes.len())),
        _ => row.try_get::<String, _>(index),
    };
    read.unwrap_or_else(|_| "?".into())
}

#[cfg(test)]
mod tests {
    use super::is_more_than_one;

    #[test]
    fn only_one_statement_is_one() {
        for sql in [
            "SELECT 1",
            "SELECT ';'",
            "SELECT 'it''s; fine'",
            "SELECT \"a;b\"",
            "SELECT 5 - 3 / 1, [a;b]",
            "SELECT '-- /*'",
        ] {
            assert!(!is_more_than_one(sql), "{sql}");
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
            assert!(is_more_than_one(sql), "{sql}");
        }
    }
}
