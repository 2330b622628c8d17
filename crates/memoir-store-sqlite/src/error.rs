//! Converts SQLite's result codes to store errors.

use std::{io, path::Path};

use memoir_store::{Result, StoreError};
use sqlx::error::DatabaseError;

use super::damage;

// Primary result codes, from SQLite's documentation.
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const READ_ONLY: i32 = 8;
const IO_ERROR: i32 = 10;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANNOT_OPEN: i32 = 14;
const NOT_A_DATABASE: i32 = 26;

/// Returns the primary result code, which is the low byte of an extended one.
fn primary_code(error: &dyn DatabaseError) -> Option<i32> {
    error.code()?.parse::<i32>().ok().map(|code| code & 0xff)
}

/// Returns SQLite's error message without the prefix that the driver adds.
fn describe(error: &sqlx::Error) -> String {
    error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}

/// Unix error number of an I/O error, for which std has no name.
const EIO: i32 = 5;

/// Converts an I/O error at `path` that occurred outside SQLite.
pub(super) fn file_error(path: &Path, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull => StoreError::DiskFull,
        _ if cfg!(unix) && error.raw_os_error() == Some(EIO) => {
            StoreError::DiskFailed { reason: error.to_string() }
        }
        _ => StoreError::NotWritable { path: path.to_owned(), reason: error.to_string() },
    }
}

/// Converts the error of a failed statement.
pub(super) fn store_error(error: sqlx::Error) -> StoreError {
    let code = error.as_database_error().and_then(primary_code);
    match (code, &error) {
        (Some(BUSY | LOCKED), _) | (None, sqlx::Error::PoolTimedOut) => StoreError::Busy,
        (Some(FULL), _) => StoreError::DiskFull,
        (Some(IO_ERROR | READ_ONLY | CANNOT_OPEN), _) => StoreError::DiskFailed { reason: describe(&error) },
        (Some(CORRUPT | NOT_A_DATABASE), _) => {
            damage::suspect();
            StoreError::Damaged { reason: describe(&error) }
        }
        _ => StoreError::Other(Box::new(error)),
    }
}

/// Converts SQLite results to store results.
pub(super) trait SqlResultExt<T> {
    /// Converts the error of a failed statement.
    fn or_store_error(self) -> Result<T>;
}

impl<T> SqlResultExt<T> for Result<T, sqlx::Error> {
    fn or_store_error(self) -> Result<T> {
        self.map_err(store_error)
    }
}

/// Converts an error that occurred while opening the database at `path`.
pub(super) fn open_error(path: &Path, error: sqlx::Error) -> StoreError {
    match error.as_database_error().and_then(primary_code) {
        Some(NOT_A_DATABASE) => StoreError::Foreign { path: path.to_owned() },
        Some(READ_ONLY | CANNOT_OPEN) => {
            StoreError::NotWritable { path: path.to_owned(), reason: describe(&error) }
        }
        _ => store_error(error),
    }
}
