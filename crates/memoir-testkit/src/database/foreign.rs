//! Databases of other programs.

use std::path::Path;

use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};

use super::block_on;

/// Creates a database from an SQL dump, and its directory if it is missing.
///
/// # Panics
///
/// Panics if the dump is not valid, or if the file cannot be written.
pub fn create_database(path: &Path, dump: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    block_on(async {
        let options = SqliteConnectOptions::new().filename(path).create_if_missing(true).foreign_keys(false);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(dump.to_owned())).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    });
}
