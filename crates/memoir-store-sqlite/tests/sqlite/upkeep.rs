//! Tests of backups, restores and repairs.

use std::fs;

use memoir_store::{
    Backend as _, Conversations as _, Exchanges as _, StoreError, StoreFault, Upkeep as _, contract,
};
use memoir_store_sqlite::{SqliteBackend, SqliteStore};
use tempfile::TempDir;

use super::{execute, open};

async fn commit(store: &SqliteStore, text: &str) {
    let target = contract::new_conversation("t", "/p");
    store.commit_exchange(&target, &contract::exchange(text, "answer", 1)).await.unwrap();
}

async fn count_conversations(store: &SqliteStore) -> usize {
    let all = memoir_store::ConversationList { limit: 100, ..Default::default() };
    store.conversations(&all).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_is_consistent_during_writes_and_can_be_restored() {
    let directory = TempDir::new().unwrap();
    let (path, copy, aside) = (
        directory.path().join("memoir.db"),
        directory.path().join("copy.db"),
        directory.path().join("aside.db"),
    );
    let store = open(&path).await;
    for number in 0..50 {
        commit(&store, &format!("before {number}")).await;
    }
    let writing = async {
        for number in 0..50 {
            commit(&store, &format!("meanwhile {number}")).await;
        }
    };
    let (backup, ()) = tokio::join!(store.back_up(&copy), writing);
    backup.unwrap();
    assert!(SqliteBackend.verify_backup(&copy).await.unwrap().is_empty());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(store.back_up(&copy).await.is_err(), "an existing file is not overwritten");

    let busy = SqliteBackend.restore(&copy, path.as_os_str(), &aside).await;
    assert!(matches!(busy, Err(StoreError::Busy)), "the store is open: {busy:?}");
    assert!(!aside.exists());
    store.close().await;
    SqliteBackend.restore(&copy, path.as_os_str(), &aside).await.unwrap();
    let restored = open(&path).await;
    assert!((50..100).contains(&count_conversations(&restored).await), "the state at the time of the backup");
    assert_eq!(count_conversations(&open(&aside).await).await, 100, "the previous store is kept");
}

#[tokio::test]
async fn invalid_backup_is_not_restored() {
    let directory = TempDir::new().unwrap();
    let (path, aside) = (directory.path().join("memoir.db"), directory.path().join("aside.db"));
    commit(&open(&path).await, "kept").await;
    let other = directory.path().join("other.db");
    execute(&other, "CREATE TABLE x (y)").await;
    assert!(matches!(
        SqliteBackend.restore(&other, path.as_os_str(), &aside).await,
        Err(StoreError::Foreign { .. })
    ));
    fs::write(&other, "not a database").unwrap();
    assert!(matches!(
        SqliteBackend.restore(&other, path.as_os_str(), &aside).await,
        Err(StoreError::Foreign { .. })
    ));
    let missing = directory.path().join("missing.db");
    assert!(matches!(
        SqliteBackend.restore(&missing, path.as_os_str(), &aside).await,
        Err(StoreError::Foreign { .. })
    ));
    assert!(!missing.exists() && !aside.exists());
    // A truncated backup.
    let truncated = directory.path().join("truncated.db");
    let store = open(&path).await;
    store.back_up(&truncated).await.unwrap();
    store.close().await;
    let bytes = fs::read(&truncated).unwrap();
    fs::write(&truncated, &bytes[..bytes.len() / 2]).unwrap();
    assert!(matches!(
        SqliteBackend.restore(&truncated, path.as_os_str(), &aside).await,
        Err(StoreError::Damaged { .. })
    ));
    assert_eq!(count_conversations(&open(&path).await).await, 1);
}

#[tokio::test]
async fn damaged_store_is_replaced_by_its_backup() {
    for damage in [&b"not a database"[..], &[][..]] {
        let directory = TempDir::new().unwrap();
        let (path, copy, aside) = (
            directory.path().join("memoir.db"),
            directory.path().join("copy.db"),
            directory.path().join("aside.db"),
        );
        let store = open(&path).await;
        commit(&store, "kept").await;
        store.back_up(&copy).await.unwrap();
        store.close().await;
        fs::write(&path, damage).unwrap();
        SqliteBackend.restore(&copy, path.as_os_str(), &aside).await.unwrap();
        assert_eq!(count_conversations(&open(&path).await).await, 1);
        assert_eq!(fs::read(&aside).unwrap(), damage, "the damaged file is kept as it was");
    }
}

#[tokio::test]
async fn missing_exchanges_are_recreated_once() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    for text in ["first", "second", "third"] {
        commit(&store, text).await;
    }
    assert!(store.check().await.unwrap().is_empty());
    assert_eq!(store.recreate_missing_exchanges().await.unwrap(), 0, "no exchange is missing");
    execute(&path, "PRAGMA foreign_keys = OFF; DELETE FROM exchanges WHERE id IN (1, 2); DELETE FROM conversations WHERE id = 2")
        .await;
    let faults = store.check().await.unwrap();
    let are_messages =
        |fault: &StoreFault| matches!(fault, StoreFault::Orphans { table, .. } if table == "messages");
    assert!(faults.iter().any(are_messages), "{faults:?}");
    assert_eq!(store.recreate_missing_exchanges().await.unwrap(), 2);
    assert_eq!(store.recreate_missing_exchanges().await.unwrap(), 0, "nothing is left to recreate");
    let exchange = store.exchange(memoir_core::ExchangeId::new(2)).await.unwrap().unwrap();
    assert_eq!((exchange.user_message.as_str(), exchange.assistant_message.as_str()), ("second", "answer"));
    assert_eq!(count_conversations(&store).await, 3);
    assert!(!store.check().await.unwrap().iter().any(are_messages));
}
