//! From SQLite's result codes to decisions.

use sqlx::error::DatabaseError;

use crate::StoreError;

// Primary result codes, from SQLite's documentation.
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const READ_ONLY: i32 = 8;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANNOT_OPEN: i32 = 14;
const NOT_A_DATABASE: i32 = 26;

/// The low byte of an extended result code says what kind of failure it is.
fn primary_code(error: &dyn DatabaseError) -> Option<i32> {
    error.code()?.parse::<i32>().ok().map(|code| code & 0xff)
}

/// What a failed statement means for the caller.
pub(super) fn store_error(error: sqlx::Error) -> StoreError {
    let code = error.as_database_error().and_then(primary_code);
    match (code, &error) {
        (Some(BUSY | LOCKED), _) | (None, sqlx::Error::PoolTimedOut) => StoreError::Busy,
        (Some(FULL), _) => StoreError::DiskFull,
        (Some(CORRUPT | NOT_A_DATABASE), _) => StoreError::Damaged { reason: error.to_string() },
        _ => StoreError::Other(Box::new(error)),
    }
}

/// What a failure while opening `path` means.
pub(super) fn open_error(path: &std::path::Path, error: sqlx::Error) -> StoreError {
    match error.as_database_error().and_then(primary_code) {
        Some(NOT_A_DATABASE) => StoreError::Foreign { path: path.to_owned() },
        Some(READ_ONLY | CANNOT_OPEN) => {
            StoreError::NotWritable { path: path.to_owned(), reason: error.to_string() }
        }
        _ => store_error(error),
    }
}
