//! The index in memory: packed, damaged, deleted from, shared, and the graph's life.

use std::path::Path;

use memoir_store::{
    Accuracy, Embeddings as _, Exchanges as _, Filter, Memory as _, SearchEffort, VectorSearch, WordSearch,
    contract,
};
use memoir_store_sqlite::{SqliteStore, fill};
use tempfile::TempDir;

use crate::{execute, open};

const DIMENSIONS: usize = 64;

/// A vector of its own for every number.
pub(crate) fn vector(number: i64) -> Vec<f32> {
    fill::vector(number, DIMENSIONS)
}

/// `count` exchanges in conversations of ten; the prompt of exchange `n` says `word{n}` and has the vector of `n`.
async fn say(store: &SqliteStore, numbers: std::ops::Range<i64>) {
    let mut target = contract::new_conversation("t", "/p");
    for number in numbers {
        if number % 10 == 0 {
            target = contract::new_conversation("t", "/p");
        }
        let draft = contract::exchange(&format!("this is word{number} said"), "ok", number);
        let committed = store.commit_exchange(&target, &draft).await.unwrap();
        target = committed.to_target();
        let wanted = contract::embeddable(0);
        let prompt = store.unembedded_of(committed.exchange_id, &wanted).await.unwrap().remove(0);
        let embedding = contract::embedding(prompt.subject, &vector(number), "");
        store.put_embeddings("m", &[embedding]).await.unwrap();
    }
}

/// The text of what is nearest to a number's vector.
async fn nearest(store: &SqliteStore, number: i64, accuracy: Accuracy) -> String {
    let (vector, filter) = (vector(number), Filter::default());
    let effort = SearchEffort { accuracy, ..SearchEffort::default() };
    let search = VectorSearch { model: "m", vector: &vector, filter: &filter, effort, limit: 1 };
    let found = store.nearest(&search).await.unwrap();
    match found.first() {
        Some(found) if found.score > 0.99 => store.texts(&[found.message_id]).await.unwrap().remove(0).1,
        _ => String::new(),
    }
}

/// How many messages have a word.
async fn having(store: &SqliteStore, word: &str) -> usize {
    let (words, filter) = ([word.to_owned()], Filter::default());
    let search = WordSearch { words: &words, filter: &filter, conversations: 10, also: &[] };
    store.search_words(&search).await.unwrap().words[0].len()
}

async fn segments(path: &Path) -> i64 {
    crate::count(path, "SELECT count(*) FROM _index_segments").await
}

async fn finds_all(store: &SqliteStore, numbers: &[i64]) {
    for number in numbers {
        let expected = format!("this is word{number} said");
        assert_eq!(nearest(store, *number, Accuracy::Auto).await, expected);
        assert_eq!(having(store, &format!("word{number}")).await, 1, "{expected}");
    }
}

/// A memory of 1,300 exchanges whose index was packed.
async fn packed() -> (TempDir, std::path::PathBuf) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    say(&store, 0..1300).await;
    assert_eq!(segments(&path).await, 0);
    finds_all(&store, &[7]).await;
    store.settle().await;
    assert_eq!(
        segments(&path).await,
        3,
        "two of 1,024 messages and one of vectors; the rest is not worth it yet"
    );
    store.close().await;
    (directory, path)
}

/// Among vectors without any likeness, estimates put many before those that are nearest.
#[tokio::test]
async fn what_is_nearest_is_found_behind_what_only_seems_nearer() {
    let directory = TempDir::new().unwrap();
    let store = open(&directory.path().join("memoir.db")).await;
    store.fill_for_benchmark(1000, fill::talk).await.unwrap();
    store.fill_vectors_for_benchmark("m", vector).await.unwrap();
    let (filter, mut hits) = (Filter::default(), 0);
    for asked in 5000..5020 {
        let asked = vector(asked);
        let cosine = |id: &i64| vector(*id).iter().zip(&asked).map(|(a, b)| a * b).sum::<f32>();
        let mut ids: Vec<i64> = (1..=2000).collect();
        ids.sort_by(|a, b| cosine(b).total_cmp(&cosine(a)));
        let search = VectorSearch {
            model: "m",
            vector: &asked,
            filter: &filter,
            effort: SearchEffort::default(),
            limit: 10,
        };
        let found = store.nearest(&search).await.unwrap();
        assert!(found.is_sorted_by(|a, b| a.score >= b.score), "{found:?}");
        hits += found.iter().filter(|found| ids[..10].contains(&found.message_id.get())).count();
    }
    assert!(hits > 185, "{hits} of 200");
}

#[tokio::test]
async fn what_was_packed_is_found_by_the_next_process_and_what_came_after_too() {
    let (_directory, path) = packed().await;
    let (one, other) = (open(&path).await, open(&path).await);
    finds_all(&one, &[0, 1023, 1299]).await;
    say(&other, 1300..1303).await;
    finds_all(&one, &[0, 1300, 1302]).await;
    let outlines = one.outlines(&[memoir_core::ConversationId::new(1)]).await.unwrap();
    assert_eq!(outlines.len(), 20);
    assert_eq!((outlines[0].words, outlines[0].created.as_millis()), (4, 0));
}

#[tokio::test]
async fn what_took_long_to_read_is_packed_before_the_store_is_closed() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    store.fill_for_benchmark(5_000, fill::talk).await.unwrap();
    assert_eq!(segments(&path).await, 0);
    store.outlines(&[]).await.unwrap();
    store.close().await;
    assert_eq!(segments(&path).await, 10_000 / 1024);
}

#[tokio::test]
async fn a_damaged_segment_costs_no_answers_and_is_replaced() {
    let (_directory, path) = packed().await;
    for damage in [
        "UPDATE _index_segments SET data = zeroblob(100)",
        "UPDATE _index_segments SET checksum = checksum + 1",
        "UPDATE _index_segments SET count = count - 1, data = substr(data, 2)",
        "DELETE FROM _index_segments WHERE kind = 'vectors'",
        "UPDATE _index_segments SET last_id = last_id + 5000 WHERE id = (SELECT min(id) FROM _index_segments)",
    ] {
        execute(&path, damage).await;
        let store = open(&path).await;
        finds_all(&store, &[3, 600, 1299]).await;
        store.settle().await;
        store.close().await;
        let store = open(&path).await;
        finds_all(&store, &[3, 600, 1299]).await;
        store.settle().await;
        store.close().await;
        assert_eq!(segments(&path).await, 3, "after {damage}");
    }
}

#[tokio::test]
async fn deleting_takes_the_segment_along_and_the_others_stay() {
    let (_directory, path) = packed().await;
    let watching = open(&path).await;
    finds_all(&watching, &[15]).await;
    // Exchanges 10 to 19.
    execute(&path, "PRAGMA foreign_keys = ON; DELETE FROM conversations WHERE id = 2").await;
    assert_eq!(segments(&path).await, 1, "the first of each kind held something of it");
    for store in [watching, open(&path).await] {
        assert_eq!(nearest(&store, 15, Accuracy::Auto).await, "");
        assert_eq!(having(&store, "word15").await, 0);
        finds_all(&store, &[9, 20, 700, 1299]).await;
        store.settle().await;
        assert_eq!(segments(&path).await, 3, "what is left is packed again");
        finds_all(&store, &[9, 20, 700, 1299]).await;
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_is_built_beside_the_scan_kept_and_taken_up_again() {
    let (directory, path) = packed().await;
    let file = directory.path().join("memoir.graph");
    let finds = async |store: &SqliteStore| {
        for number in [0, 444, 1299] {
            let expected = format!("this is word{number} said");
            assert_eq!(nearest(store, number, Accuracy::Approximate).await, expected);
        }
    };
    let store = open(&path).await;
    finds(&store).await;
    assert!(store.has_graph().await || !file.exists(), "the scan serves until it is there");
    store.settle().await;
    assert!(file.exists() && store.has_graph().await);
    finds(&store).await;
    // What came later is found without being in it.
    say(&store, 1300..1310).await;
    assert_eq!(nearest(&store, 1305, Accuracy::Approximate).await, "this is word1305 said");
    store.close().await;

    let made = std::fs::metadata(&file).unwrap().modified().unwrap();
    let store = open(&path).await;
    finds(&store).await;
    store.settle().await;
    assert!(store.has_graph().await);
    assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), made, "it was taken up, not built");
    store.close().await;

    std::fs::write(&file, b"no graph").unwrap();
    let store = open(&path).await;
    finds(&store).await;
    store.settle().await;
    assert!(
        store.has_graph().await && std::fs::metadata(&file).unwrap().len() > 1000,
        "a damaged one is built anew"
    );

    execute(&path, "PRAGMA foreign_keys = ON; DELETE FROM conversations WHERE id = 2").await;
    assert_eq!(nearest(&store, 15, Accuracy::Approximate).await, "");
    store.settle().await;
    assert_eq!(nearest(&store, 15, Accuracy::Approximate).await, "");
    finds(&store).await;
    store.close().await;
}
