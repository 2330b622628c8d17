//! The stores that Memoir can open.

use std::sync::Arc;

use memoir_store::{StoreFactory, StoreUrl};
use memoir_store_sqlite::SqliteBackend;

use crate::home::Home;

/// Returns a factory with all store backends.
pub fn factory() -> StoreFactory {
    StoreFactory::new(vec![Arc::new(SqliteBackend)])
}

/// Returns the URL of the memory in a home directory.
pub fn url(home: &Home) -> StoreUrl {
    StoreUrl::new("sqlite", home.database())
}
