//! Access to databases other than the runtime's own, such as backups and temporary databases.

use std::{path::Path, sync::Arc};

use memoir_store::{Salvage, Store, StoreError, StoreFault, StoreUrl};

use crate::stores;

/// Opens the database at `path`, creating it if it does not exist.
pub(crate) async fn open(path: &Path) -> Result<Arc<dyn Store>, StoreError> {
    stores::factory().open(&url(path)).await
}

pub(super) async fn open_empty() -> Result<Arc<dyn Store>, StoreError> {
    stores::factory().open_in_memory().await
}

/// Verifies `copy`, a backup of the database at `path`. Returns the faults in it.
pub(super) async fn verify(copy: &Path, path: &Path) -> Result<Vec<StoreFault>, StoreError> {
    stores::factory().verify_backup(&url(path), copy).await
}

/// Replaces the database at `path` with `copy`, and moves the previous one to `aside`.
pub(super) async fn restore(copy: &Path, path: &Path, aside: &Path) -> Result<(), StoreError> {
    stores::factory().restore(&url(path), copy, aside).await
}

/// Replaces the database at `path` with what can be read from it, and copies it to `aside` first.
pub(super) async fn repair(path: &Path, aside: &Path) -> Result<Salvage, StoreError> {
    stores::factory().repair(&url(path), aside).await
}

fn url(path: &Path) -> StoreUrl {
    StoreUrl::new("sqlite", path)
}
