//! SQL that looks at the database itself.

use async_trait::async_trait;
use sqlx::AssertSqlSafe;

use super::{SCHEMA_VERSION, SqliteStore, error::store_error};
use crate::{Inspect, Result, TableInfo};

#[async_trait]
impl Inspect for SqliteStore {
    fn schema_version(&self) -> i64 {
        SCHEMA_VERSION
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
        .map_err(store_error)?;
        let mut tables = Vec::with_capacity(names.len());
        for name in names {
            // The name comes from the schema itself, which only our migrations write.
            let count = AssertSqlSafe(format!("SELECT count(*) FROM \"{name}\""));
            let rows: i64 = sqlx::query_scalar(count).fetch_one(&self.readers).await.map_err(store_error)?;
            tables.push(TableInfo { name, rows: u64::try_from(rows).unwrap_or(0) });
        }
        Ok(tables)
    }
}
