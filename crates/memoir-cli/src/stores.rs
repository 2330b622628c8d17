//! The stores that this program can open.

use std::sync::Arc;

use memoir_store::{StoreFactory, StoreUrl};
use memoir_store_sqlite::SqliteBackend;

use crate::home::Home;

/// Returns a factory with every backend of this program.
pub(crate) fn factory() -> StoreFactory {
    StoreFactory::new(vec![Arc::new(SqliteBackend)])
}

/// Returns where the memory of a home is.
pub(crate) fn url(home: &Home) -> StoreUrl {
    StoreUrl::new("sqlite", home.database())
}
