//! Runs the contract suite for every way to open a SQLite store.

use std::sync::Arc;

use memoir_store::{Store, StoreFactory, StoreUrl};
use memoir_store_sqlite::{SqliteBackend, SqliteStore};
use tempfile::TempDir;

fn factory() -> StoreFactory {
    StoreFactory::new(vec![Arc::new(SqliteBackend)])
}

mod in_a_file {
    use super::*;

    async fn open() -> (Arc<dyn Store>, TempDir) {
        let directory = TempDir::new().unwrap();
        let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
        (Arc::new(store), directory)
    }

    memoir_store::contract_tests!(open);
}

mod in_memory {
    use super::*;

    async fn open() -> (Arc<dyn Store>, ()) {
        (Arc::new(SqliteStore::in_memory().await.unwrap()), ())
    }

    memoir_store::contract_tests!(open);
}

mod through_the_factory {
    use super::*;

    async fn open() -> (Arc<dyn Store>, TempDir) {
        let directory = TempDir::new().unwrap();
        let url = StoreUrl::new("sqlite", directory.path().join("memoir.db"));
        (factory().open(&url).await.unwrap(), directory)
    }

    memoir_store::contract_tests!(open);
    memoir_store::redaction_tests!(open);
}

mod in_memory_through_the_factory {
    use super::*;

    async fn open() -> (Arc<dyn Store>, ()) {
        (factory().open_in_memory().await.unwrap(), ())
    }

    memoir_store::redaction_tests!(open);
}
