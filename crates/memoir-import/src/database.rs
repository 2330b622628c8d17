//! Read-only access to the SQLite databases of other programs.
//!
//! This is the only SQL outside of the store crates: it reads the schemas of other programs and nothing of
//! Memoir's own. A database is never changed, and no lock that another program would wait for is taken.

use std::{ffi::OsString, path::Path, time::Duration};

use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteRow},
};

use crate::{HistoryFormat, ImportError, ImportedHistory, cursor, llm, open_webui, opencode};

/// Time to wait for a program that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns whether a file with this beginning is an SQLite database.
pub fn is_database(head: &[u8]) -> bool {
    head.starts_with(b"SQLite format 3")
}

/// Reads the database in which a program keeps its history.
///
/// # Errors
///
/// Fails if the program has no database, if the file is the database of another program, or if it cannot be
/// read.
pub async fn read_database(format: HistoryFormat, file: &Path) -> Result<ImportedHistory, ImportError> {
    match format {
        HistoryFormat::Cursor => cursor::read_database(file).await,
        HistoryFormat::Llm => llm::read_database(file).await,
        HistoryFormat::OpenCode => opencode::read_database(file).await,
        HistoryFormat::OpenWebUi => open_webui::read_database(file).await,
        _ => Err(ImportError::WrongFormat("a text file")),
    }
}

/// A database of another program.
pub(crate) struct ForeignDatabase {
    connection: SqliteConnection,
}

impl ForeignDatabase {
    pub(crate) async fn open(file: &Path) -> Result<Self, ImportError> {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .read_only(true)
            // Without a log or a journal, no program is writing, and reading needs neither locks nor other files.
            .immutable(!has_log(file))
            .pragma("trusted_schema", "OFF")
            .busy_timeout(BUSY_TIMEOUT)
            .disable_statement_logging();
        let connection = SqliteConnection::connect_with(&options).await.map_err(database_error)?;
        Ok(Self { connection })
    }

    pub(crate) async fn close(self) {
        if let Err(error) = self.connection.close().await {
            // Everything was read, and a read-only connection has nothing to write.
            tracing::debug!(%error, "could not close the database of another program");
        }
    }

    pub(crate) async fn has_table(&mut self, name: &str) -> Result<bool, ImportError> {
        let rows =
            self.query("SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?", &[name]).await?;
        Ok(!rows.is_empty())
    }

    /// Returns the rows of a table, or none if the table does not exist.
    pub(crate) async fn table(&mut self, name: &'static str) -> Result<Vec<Record>, ImportError> {
        match self.has_table(name).await? {
            true => {
                let query = sqlx::query(AssertSqlSafe(format!("SELECT * FROM \"{name}\"")));
                let rows = query.fetch_all(&mut self.connection).await.map_err(database_error)?;
                Ok(rows.into_iter().map(Record).collect())
            }
            false => Ok(Vec::new()),
        }
    }

    pub(crate) async fn query(
        &mut self,
        sql: &'static str,
        parameters: &[&str],
    ) -> Result<Vec<Record>, ImportError> {
        let mut query = sqlx::query(sql);
        for parameter in parameters {
            query = query.bind((*parameter).to_owned());
        }
        let rows = query.fetch_all(&mut self.connection).await.map_err(database_error)?;
        Ok(rows.into_iter().map(Record).collect())
    }
}

/// Returns whether a database has a write-ahead log or a journal, which means that a program may be using it.
fn has_log(file: &Path) -> bool {
    ["-wal", "-journal"].into_iter().any(|ending| {
        let mut log = OsString::from(file);
        log.push(ending);
        Path::new(&log).exists()
    })
}

fn database_error(error: sqlx::Error) -> ImportError {
    ImportError::Database(error.to_string())
}

/// A row of a database. Columns differ between versions of a program, so a missing one counts as empty.
pub(crate) struct Record(SqliteRow);

impl Record {
    /// Returns the text in a column, or `None` if it is missing or empty. Numbers are converted.
    pub(crate) fn text(&self, column: &str) -> Option<String> {
        let value: Option<String> = self.0.try_get_unchecked(column).ok()?;
        value.filter(|text| !text.is_empty())
    }

    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        self.text(column)?.parse().ok()
    }
}
