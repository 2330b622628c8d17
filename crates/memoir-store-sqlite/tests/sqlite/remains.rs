//! Tests that deleted text is erased from the file, including from unused parts of pages.

use std::path::Path;

use memoir_core::{DocumentKind, ExchangeId, Summary, Timestamp};
use memoir_store::{
    ChunkSpan, Documents as _, Exchanges as _, Forget, Forgetting as _, NewDocument, Summaries as _, contract,
};
use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

use crate::{count, execute, open};

/// A pseudorandom number generator. With these seeds, SQLite leaves some words behind in unused parts of pages and in
/// inner pages of the full-text index.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

#[tokio::test]
async fn deleted_exchanges_leave_no_remains() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    let mut random = Random(5_u64.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut target = contract::new_conversation("t", "/p");
    let mut exchanges: Vec<(ExchangeId, String)> = Vec::new();
    for number in 0..600 {
        let word = format!("stock{number:05}");
        let more = "and whatever else there is, ".repeat(random.below(20));
        let prompt = format!("Please put {word} on the list, {more}.");
        let draft = contract::exchange(&prompt, &"It is there. ".repeat(random.below(9)), 1);
        if random.below(10) == 0 {
            target = contract::new_conversation("t", "/p");
        }
        let committed = store.commit_exchange(&target, &draft).await.unwrap();
        target = committed.to_target();
        exchanges.push((committed.exchange_id, word));
        // A row that grows has to move.
        let id = exchanges[random.below(exchanges.len())].0;
        let text = "It was about the list. ".repeat(1 + random.below(30));
        store.put_exchange_summaries(&[(id, Summary { text, author: "m".into() })]).await.unwrap();
        if random.below(3) == 0 && exchanges.len() > 1 {
            let (id, word) = exchanges.swap_remove(random.below(exchanges.len()));
            store.forget(Forget::Exchange(id)).await.unwrap();
            target = contract::new_conversation("t", "/p");
            assert!(!file_contains(&path, &word), "{word} remains in the file");
        }
    }
    store.close().await;
}

#[tokio::test]
async fn deleted_documents_leave_no_remains() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let whole = |text: &str| vec![ChunkSpan { new: 0..text.len(), overlap: 0, tokens: 9 }];
    let mut documents = Vec::new();
    for number in 0..300 {
        let word = format!("stock{number:05}");
        let more = "and whatever else there is, ".repeat(random.below(20));
        let text = format!("The {word} is on the list, {more}\n").repeat(1 + random.below(4));
        let new = NewDocument {
            slug: format!("d{number}"),
            title: format!("About {word}"),
            date: "2025-01-01".into(),
            tags: Vec::new(),
            kind: DocumentKind::File,
            source: format!("/d{number}"),
            hash: number.to_string(),
            text,
            written_from: Vec::new(),
        };
        let id = store.put_document(&new, &whole, Timestamp::from_millis(number)).await.unwrap().id;
        documents.push((id, word));
        if random.below(2) == 0 {
            let (id, word) = documents.swap_remove(random.below(documents.len()));
            assert!(store.delete_document(id).await.unwrap());
            assert!(!file_contains(&path, &word), "{word} remains in the file");
        }
    }
    store.close().await;
}

#[tokio::test]
async fn next_process_finishes_an_interrupted_erasure() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    let draft = contract::exchange("Hello", "Hello.", 1);
    store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    store.close().await;
    // Write a word into unused space, as if a deleted row had been there.
    let word = "the word that was forgotten";
    let mut bytes = std::fs::read(&path).unwrap();
    let gap = bytes.windows(200).rposition(|part| part.iter().all(|byte| *byte == 0)).unwrap() + 80;
    bytes[gap..gap + word.len()].copy_from_slice(word.as_bytes());
    std::fs::write(&path, bytes).unwrap();

    open(&path).await.close().await;
    assert!(file_contains(&path, word), "without a recorded trace, opening erases nothing");
    execute(&path, "INSERT INTO _traces DEFAULT VALUES").await;
    // A concurrent reader prevents the erasure, and opening does not wait for it.
    let options = SqliteConnectOptions::new().filename(&path);
    let mut reader = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql("BEGIN; SELECT count(*) FROM messages").execute(&mut reader).await.unwrap();
    open(&path).await.close().await;
    assert_eq!(count(&path, "SELECT count(*) FROM _traces").await, 1, "the erasure is still pending");
    reader.close().await.unwrap();
    open(&path).await.close().await;
    assert!(!file_contains(&path, word), "the word remains in the file");
    assert_eq!(count(&path, "SELECT count(*) FROM _traces").await, 0, "no erasure is pending");
}

fn file_contains(path: &Path, word: &str) -> bool {
    let bytes = std::fs::read(path).unwrap();
    bytes.windows(word.len()).any(|part| part == word.as_bytes())
}
