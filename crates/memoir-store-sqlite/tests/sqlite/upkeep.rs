//! Copies, putting them back, and what came apart.

use std::fs;

use memoir_store::{
    Backend as _, Conversations as _, Exchanges as _, StoreError, StoreFault, Upkeep as _, contract,
};
use memoir_store_sqlite::{SqliteBackend, SqliteStore};
use tempfile::TempDir;

use super::{execute, open};

async fn said(store: &SqliteStore, text: &str) {
    let target = contract::new_conversation("t", "/p");
    store.commit_exchange(&target, &contract::exchange(text, "answer", 1)).await.unwrap();
}

async fn conversations(store: &SqliteStore) -> usize {
    let all = memoir_store::ConversationList { limit: 100, ..Default::default() };
    store.conversations(&all).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_whole_while_others_write_and_comes_back_in_its_place() {
    let folder = TempDir::new().unwrap();
    let (path, copy, aside) =
        (folder.path().join("memoir.db"), folder.path().join("copy.db"), folder.path().join("aside.db"));
    let store = open(&path).await;
    for number in 0..50 {
        said(&store, &format!("before {number}")).await;
    }
    let writing = async {
        for number in 0..50 {
            said(&store, &format!("meanwhile {number}")).await;
        }
    };
    let (made, ()) = tokio::join!(store.back_up(&copy), writing);
    made.unwrap();
    assert!(SqliteBackend.verify_backup(&copy).await.unwrap().is_empty());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(store.back_up(&copy).await.is_err(), "what is there is not written over");

    let busy = SqliteBackend.restore(&copy, path.as_os_str(), &aside).await;
    assert!(matches!(busy, Err(StoreError::Busy)), "it is open: {busy:?}");
    assert!(!aside.exists());
    store.close().await;
    SqliteBackend.restore(&copy, path.as_os_str(), &aside).await.unwrap();
    let back = open(&path).await;
    assert!((50..100).contains(&conversations(&back).await), "as of the moment of the copy");
    assert_eq!(conversations(&open(&aside).await).await, 100, "what was there is kept");
}

#[tokio::test]
async fn what_is_no_copy_is_not_put_back() {
    let folder = TempDir::new().unwrap();
    let (path, aside) = (folder.path().join("memoir.db"), folder.path().join("aside.db"));
    said(&open(&path).await, "kept").await;
    let other = folder.path().join("other.db");
    execute(&other, "CREATE TABLE x (y)").await;
    assert!(matches!(
        SqliteBackend.restore(&other, path.as_os_str(), &aside).await,
        Err(StoreError::Foreign { .. })
    ));
    fs::write(&other, "no database at all").unwrap();
    assert!(matches!(
        SqliteBackend.restore(&other, path.as_os_str(), &aside).await,
        Err(StoreError::Foreign { .. })
    ));
    let none = folder.path().join("none.db");
    assert!(matches!(
        SqliteBackend.restore(&none, path.as_os_str(), &aside).await,
        Err(StoreError::Foreign { .. })
    ));
    assert!(!none.exists() && !aside.exists());
    // A copy that was cut off on its way.
    let cut = folder.path().join("cut.db");
    let store = open(&path).await;
    store.back_up(&cut).await.unwrap();
    store.close().await;
    let bytes = fs::read(&cut).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    assert!(matches!(
        SqliteBackend.restore(&cut, path.as_os_str(), &aside).await,
        Err(StoreError::Damaged { .. })
    ));
    assert_eq!(conversations(&open(&path).await).await, 1);
}

#[tokio::test]
async fn a_damaged_memory_is_replaced_by_its_copy() {
    for damage in [&b"no database"[..], &[][..]] {
        let folder = TempDir::new().unwrap();
        let (path, copy, aside) =
            (folder.path().join("memoir.db"), folder.path().join("copy.db"), folder.path().join("aside.db"));
        let store = open(&path).await;
        said(&store, "kept").await;
        store.back_up(&copy).await.unwrap();
        store.close().await;
        fs::write(&path, damage).unwrap();
        SqliteBackend.restore(&copy, path.as_os_str(), &aside).await.unwrap();
        assert_eq!(conversations(&open(&path).await).await, 1);
        assert_eq!(fs::read(&aside).unwrap(), damage, "it is kept as it was");
    }
}

#[tokio::test]
async fn messages_without_an_exchange_get_theirs_back_once() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("memoir.db");
    let store = open(&path).await;
    for text in ["first", "second", "third"] {
        said(&store, text).await;
    }
    assert!(store.check().await.unwrap().is_empty());
    assert_eq!(store.group_messages().await.unwrap(), 0, "nothing came apart");
    execute(&path, "PRAGMA foreign_keys = OFF; DELETE FROM exchanges WHERE id IN (1, 2); DELETE FROM conversations WHERE id = 2")
        .await;
    let faults = store.check().await.unwrap();
    let are_messages =
        |fault: &StoreFault| matches!(fault, StoreFault::Orphans { table, .. } if table == "messages");
    assert!(faults.iter().any(are_messages), "{faults:?}");
    assert_eq!(store.group_messages().await.unwrap(), 2);
    assert_eq!(store.group_messages().await.unwrap(), 0, "once");
    let back = store.exchange(memoir_core::ExchangeId::new(2)).await.unwrap().unwrap();
    assert_eq!((back.user_message.as_str(), back.assistant_message.as_str()), ("second", "answer"));
    assert_eq!(conversations(&store).await, 3);
    assert!(!store.check().await.unwrap().iter().any(are_messages));
}
