//! The few calls that depend on the memory being one SQLite file.

use std::path::Path;

use memoir_store::{
    StoreError,
    sqlite::{self, SqliteStore},
};

/// Opens the memory at `path`, and creates it if it does not exist.
pub(super) async fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path).await
}

/// Opens an empty memory without a file.
pub(super) async fn open_empty() -> Result<SqliteStore, StoreError> {
    SqliteStore::in_memory().await
}

/// Checks a copy of the memory. Returns what is wrong with it.
pub(super) async fn verify(copy: &Path) -> Result<Vec<String>, StoreError> {
    sqlite::verify(copy).await
}

/// Replaces the memory at `path` by `copy`, and moves the previous one to `aside`.
pub(super) async fn restore(copy: &Path, path: &Path, aside: &Path) -> Result<(), StoreError> {
    sqlite::restore(copy, path, aside).await
}
