//! Tests of the SQLite store: the contract suite, and everything specific to files.

#![expect(clippy::unwrap_used, reason = "a failed test should panic")]

mod chunks;
mod contract_suite;
mod index;
mod remains;
mod salvage;
mod upkeep;

use std::{fs, path::Path, sync::Arc};

use memoir_store::{
    CommandHistory as _, ConversationList, Conversations as _, Embeddings as _, Exchanges as _, Filter,
    Inspect as _, Memory as _, SearchEffort, StoreError, VectorSearch, contract,
};
use memoir_store_sqlite::{SCHEMA_VERSION, SqliteStore};
use tempfile::TempDir;

async fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path).await.unwrap()
}

/// Runs SQL on the file, as another program would.
async fn execute(path: &Path, sql: &'static str) {
    use sqlx::Connection as _;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Returns the number that a query on the file selects.
async fn count(path: &Path, sql: &'static str) -> i64 {
    use sqlx::Connection as _;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
}

#[tokio::test]
async fn commits_survive_reopening() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("deep/down/memoir.db");
    let store = open(&path).await;
    store.append_command("hello", memoir_core::Timestamp::from_millis(1)).await.unwrap();
    store.close().await;
    assert_eq!(open(&path).await.recent_commands(5).await.unwrap(), ["hello"]);
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = TempDir::new().unwrap();
    let home = directory.path().join("home");
    let store = open(&home.join("memoir.db")).await;
    store.append_command("hello", memoir_core::Timestamp::from_millis(1)).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    let files: Vec<_> = fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.iter().any(|file| file.to_string_lossy().ends_with("-wal")), "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn text_file_is_rejected_and_left_untouched() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let text = "these are my notes, and they are longer than any header a database may have. ".repeat(20);
    fs::write(&path, &text).unwrap();
    let result = SqliteStore::open(&path).await;
    assert!(matches!(result, Err(StoreError::Foreign { .. })), "{result:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn database_of_another_program_is_rejected() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    execute(&path, "CREATE TABLE bookmarks (url TEXT)").await;
    let before = fs::read(&path).unwrap();
    assert!(matches!(SqliteStore::open(&path).await, Err(StoreError::Foreign { .. })));
    assert_eq!(fs::read(&path).unwrap(), before, "the file must not change");
}

#[tokio::test]
async fn newer_schema_is_rejected() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    open(&path).await.close().await;
    execute(&path, "PRAGMA user_version = 9999").await;
    let result = SqliteStore::open(&path).await;
    assert!(
        matches!(result, Err(StoreError::Newer { version: 9999, supported: SCHEMA_VERSION, .. })),
        "{result:?}"
    );
}

#[tokio::test]
async fn unwritable_location_is_reported() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("file"), "").unwrap();
    let result = SqliteStore::open(&directory.path().join("file/memoir.db")).await;
    assert!(matches!(result, Err(StoreError::NotWritable { .. })), "{result:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_opens_of_a_new_store_succeed() {
    for _ in 0..10 {
        let directory = TempDir::new().unwrap();
        let path = Arc::new(directory.path().join("memoir.db"));
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let path = Arc::clone(&path);
                tokio::spawn(async move { open(&path).await.tables().await.unwrap().len() })
            })
            .collect();
        for task in tasks {
            assert!(task.await.unwrap() >= 5);
        }
    }
}

#[tokio::test]
async fn failed_commit_leaves_nothing() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    // Costs are written after the rest of the exchange, so the transaction fails halfway.
    execute(&path, "CREATE TRIGGER no_costs BEFORE INSERT ON costs BEGIN SELECT RAISE (ABORT, 'no'); END")
        .await;
    let draft = contract::exchange("half a question", "half an answer", 1000);
    assert!(store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.is_err());
    assert!(store.tables().await.unwrap().iter().all(|table| table.rows == 0));
    execute(&path, "DROP TRIGGER no_costs").await;
    assert!(store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.is_ok());
}

#[tokio::test]
async fn other_processes_see_new_and_deleted_embeddings() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let (one, other) = (open(&path).await, open(&path).await);
    let everywhere = Filter::default();
    let search = VectorSearch {
        model: "m",
        vector: &[1.0, 0.0],
        filter: &everywhere,
        effort: SearchEffort::default(),
        limit: 5,
    };
    let nearest = || other.nearest(&search);
    assert!(nearest().await.unwrap().is_empty());
    let draft = contract::exchange("a question", "an answer", 1000);
    one.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    let subject = one.unembedded(&contract::embeddable(0), 1).await.unwrap().remove(0).subject;
    let embedding = contract::embedding(subject, &[1.0, 0.0], "");
    one.put_embeddings("m", std::slice::from_ref(&embedding)).await.unwrap();
    assert_eq!(nearest().await.unwrap().len(), 1);
    execute(&path, "PRAGMA foreign_keys = ON; DELETE FROM conversations").await;
    assert!(nearest().await.unwrap().is_empty());
    // No embedding is stored for a message that was deleted while it was being embedded.
    one.put_embeddings("m", &[embedding]).await.unwrap();
    assert!(nearest().await.unwrap().is_empty());
}

#[tokio::test]
async fn deleting_a_conversation_deletes_its_words_and_keeps_its_costs() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    let draft = contract::exchange("the word is xyzzyplugh", "noted", 1000);
    store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    store.close().await;
    execute(&path, "PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; DELETE FROM conversations; PRAGMA wal_checkpoint(TRUNCATE)")
        .await;
    let bytes = fs::read(&path).unwrap();
    assert!(!bytes.windows(10).any(|window| window == b"xyzzyplugh"));
    let store = open(&path).await;
    assert!(
        store
            .conversations(&ConversationList { scope: None, limit: 5, ..ConversationList::default() })
            .await
            .unwrap()
            .is_empty()
    );
    let rows = |name: &str, tables: &[memoir_store::TableInfo]| {
        tables.iter().find(|table| table.name == name).unwrap().rows
    };
    let tables = store.tables().await.unwrap();
    assert_eq!((rows("messages", &tables), rows("costs", &tables)), (0, 1));
}
