//! What was forgotten stands nowhere in the file, also not where rows once stood.

use std::path::Path;

use memoir_core::{DocumentKind, ExchangeId, Summary, Timestamp};
use memoir_store::{
    ChunkSpan, Documents as _, Exchanges as _, Forget, Forgetting as _, NewDocument, Summaries as _, contract,
};
use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

use crate::{count, execute, open};

/// Numbers below others, as if by chance. With these, SQLite left a few of the words behind: in parts of pages that were not in use, and in inner
/// pages of the full-text index.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

#[tokio::test]
async fn nothing_is_left_of_what_was_forgotten() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    let mut chance = Chance(5_u64.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut target = contract::new_conversation("t", "/p");
    let mut said: Vec<(ExchangeId, String)> = Vec::new();
    for number in 0..600 {
        let word = format!("stock{number:05}");
        let more = "and whatever else there is, ".repeat(chance.below(20));
        let asked = format!("Please put {word} on the list, {more}.");
        let draft = contract::exchange(&asked, &"It is there. ".repeat(chance.below(9)), 1);
        if chance.below(10) == 0 {
            target = contract::new_conversation("t", "/p");
        }
        let committed = store.commit_exchange(&target, &draft).await.unwrap();
        target = committed.to_target();
        said.push((committed.exchange_id, word));
        // Rows that grow have to move.
        let grown = said[chance.below(said.len())].0;
        let text = "It was about the list. ".repeat(1 + chance.below(30));
        store.put_exchange_summaries(&[(grown, Summary { text, by: "m".into() })]).await.unwrap();
        if chance.below(3) == 0 && said.len() > 1 {
            let (id, word) = said.swap_remove(chance.below(said.len()));
            store.forget(Forget::Exchange(id)).await.unwrap();
            target = contract::new_conversation("t", "/p");
            assert!(!stands_in(&path, &word), "{word} is left in the file");
        }
    }
    store.close().await;
}

#[tokio::test]
async fn nothing_is_left_of_a_document_that_was_removed() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let whole = |text: &str| vec![ChunkSpan { new: 0..text.len(), overlap: 0, tokens: 9 }];
    let mut kept = Vec::new();
    for number in 0..300 {
        let word = format!("stock{number:05}");
        let more = "and whatever else there is, ".repeat(chance.below(20));
        let text = format!("The {word} is on the list, {more}\n").repeat(1 + chance.below(4));
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
        let filed = store.put_document(&new, &whole, Timestamp::from_millis(number)).await.unwrap();
        kept.push((filed.id, word));
        if chance.below(2) == 0 {
            let (id, word) = kept.swap_remove(chance.below(kept.len()));
            assert!(store.delete_document(id).await.unwrap());
            assert!(!stands_in(&path, &word), "{word} is left in the file");
        }
    }
    store.close().await;
}

#[tokio::test]
async fn who_was_cut_off_while_he_forgot_leaves_the_rest_to_the_next() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    let draft = contract::exchange("Hello", "Hello.", 1);
    store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    store.close().await;
    // Where a page has nothing, as if it had stood there once.
    let word = "the word that was forgotten";
    let mut bytes = std::fs::read(&path).unwrap();
    let gap = bytes.windows(200).rposition(|part| part.iter().all(|byte| *byte == 0)).unwrap() + 80;
    bytes[gap..gap + word.len()].copy_from_slice(word.as_bytes());
    std::fs::write(&path, bytes).unwrap();

    open(&path).await.close().await;
    assert!(stands_in(&path, word), "nobody looks for it unless it is noted");
    execute(&path, "INSERT INTO _traces DEFAULT VALUES").await;
    // Who is reading keeps it from going, and nobody waits for him.
    let options = SqliteConnectOptions::new().filename(&path);
    let mut reader = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql("BEGIN; SELECT count(*) FROM messages").execute(&mut reader).await.unwrap();
    open(&path).await.close().await;
    assert_eq!(count(&path, "SELECT count(*) FROM _traces").await, 1, "it is still to be done");
    reader.close().await.unwrap();
    open(&path).await.close().await;
    assert!(!stands_in(&path, word), "it is left in the file");
    assert_eq!(count(&path, "SELECT count(*) FROM _traces").await, 0, "and there is nothing left to do");
}

fn stands_in(path: &Path, word: &str) -> bool {
    let bytes = std::fs::read(path).unwrap();
    bytes.windows(word.len()).any(|part| part == word.as_bytes())
}
