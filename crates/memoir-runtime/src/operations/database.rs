//! Opening memories that are not the runtime's own: a copy, or one that is only examined.

use std::{path::Path, sync::Arc};

use memoir_store::{Store, StoreError, StoreFault, StoreUrl};

use crate::stores;

/// Opens the memory at `path`, and creates it if it does not exist.
pub(super) async fn open(path: &Path) -> Result<Arc<dyn Store>, StoreError> {
    stores::factory().open(&url(path)).await
}

/// Opens an empty memory without a file.
pub(super) async fn open_empty() -> Result<Arc<dyn Store>, StoreError> {
    stores::factory().open_in_memory().await
}

/// Checks a copy of the memory. Returns what is wrong with it.
pub(super) async fn verify(copy: &Path, path: &Path) -> Result<Vec<StoreFault>, StoreError> {
    stores::factory().verify_backup(&url(path), copy).await
}

/// Replaces the memory at `path` by `copy`, and moves the previous one to `aside`.
pub(super) async fn restore(copy: &Path, path: &Path, aside: &Path) -> Result<(), StoreError> {
    stores::factory().restore(&url(path), copy, aside).await
}

fn url(path: &Path) -> StoreUrl {
    StoreUrl::new("sqlite", path)
}
