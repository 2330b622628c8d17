//! Tests of the in-memory index: packing, damage, deletion, concurrent processes, and the graph.

use std::path::Path;

use memoir_store::{
    Accuracy, Embeddings as _, Exchanges as _, Filter, Memory as _, SearchEffort, VectorSearch, WordSearch,
    contract,
};
use memoir_store_sqlite::{SqliteStore, fill};
use tempfile::TempDir;

use crate::{execute, open};

const DIMENSIONS: usize = 64;

/// Returns a distinct vector for every number.
pub(crate) fn vector(number: i64) -> Vec<f32> {
    fill::vector(number, DIMENSIONS)
}

/// Commits an exchange for every number, ten per conversation. The prompt of exchange `n` contains `word{n}` and is
/// embedded as `vector(n)`.
async fn commit_exchanges(store: &SqliteStore, numbers: std::ops::Range<i64>) {
    let mut target = contract::new_conversation("t", "/p");
    for number in numbers {
        if number % 10 == 0 {
            target = contract::new_conversation("t", "/p");
        }
        let draft = contract::exchange(&format!("this is word{number} said"), "ok", number);
        let committed = store.commit_exchange(&target, &draft).await.unwrap();
        target = committed.to_target();
        let embeddable = contract::embeddable(0);
        let prompt =
            store.unembedded_in_exchange(committed.exchange_id, &embeddable).await.unwrap().remove(0);
        let embedding = contract::embedding(prompt.subject, &vector(number), "");
        store.put_embeddings("m", &[embedding]).await.unwrap();
    }
}

/// Returns the text of the message embedded as `vector(number)`, or an empty string if none is found.
async fn nearest(store: &SqliteStore, number: i64, accuracy: Accuracy) -> String {
    let (vector, filter) = (vector(number), Filter::default());
    let effort = SearchEffort { accuracy, ..SearchEffort::default() };
    let search = VectorSearch { model: "m", vector: &vector, filter: &filter, effort, limit: 1 };
    let matches = store.nearest(&search).await.unwrap();
    match matches.first() {
        Some(best) if best.score > 0.99 => store.texts(&[best.message_id]).await.unwrap().remove(0).1,
        _ => String::new(),
    }
}

/// Returns the number of messages that contain a word.
async fn count_messages(store: &SqliteStore, word: &str) -> usize {
    let (words, filter) = ([word.to_owned()], Filter::default());
    let search = WordSearch { words: &words, filter: &filter, conversations: 10, extra_conversations: &[] };
    store.search_words(&search).await.unwrap().words[0].len()
}

async fn count_segments(path: &Path) -> i64 {
    crate::count(path, "SELECT count(*) FROM _index_segments").await
}

async fn assert_finds(store: &SqliteStore, numbers: &[i64]) {
    for number in numbers {
        let expected = format!("this is word{number} said");
        assert_eq!(nearest(store, *number, Accuracy::Auto).await, expected);
        assert_eq!(count_messages(store, &format!("word{number}")).await, 1, "{expected}");
    }
}

/// Creates a store of 1,300 exchanges whose index has been packed.
async fn create_packed_store() -> (TempDir, std::path::PathBuf) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    commit_exchanges(&store, 0..1300).await;
    assert_eq!(count_segments(&path).await, 0);
    assert_finds(&store, &[7]).await;
    store.settle().await;
    assert_eq!(
        count_segments(&path).await,
        3,
        "two segments of messages, one full and one not, and one of embeddings"
    );
    store.close().await;
    (directory, path)
}

/// Random vectors are all about equally distant, so estimates rank many of them before the nearest ones.
#[tokio::test]
async fn nearest_messages_are_found_despite_coarse_estimates() {
    let directory = TempDir::new().unwrap();
    let store = open(&directory.path().join("memoir.db")).await;
    store.fill_for_benchmark(1000, fill::generate_text).await.unwrap();
    store.fill_vectors_for_benchmark("m", vector).await.unwrap();
    let (filter, mut hits) = (Filter::default(), 0);
    for number in 5000..5020 {
        let query = vector(number);
        let cosine = |id: &i64| vector(*id).iter().zip(&query).map(|(a, b)| a * b).sum::<f32>();
        let mut ids: Vec<i64> = (1..=2000).collect();
        ids.sort_by(|a, b| cosine(b).total_cmp(&cosine(a)));
        let search = VectorSearch {
            model: "m",
            vector: &query,
            filter: &filter,
            effort: SearchEffort::default(),
            limit: 10,
        };
        let matches = store.nearest(&search).await.unwrap();
        assert!(matches.is_sorted_by(|a, b| a.score >= b.score), "{matches:?}");
        hits += matches.iter().filter(|message| ids[..10].contains(&message.message_id.get())).count();
    }
    assert!(hits > 185, "{hits} of 200");
}

#[tokio::test]
async fn next_process_finds_packed_and_new_messages() {
    let (_directory, path) = create_packed_store().await;
    let (one, other) = (open(&path).await, open(&path).await);
    assert_finds(&one, &[0, 1023, 1299]).await;
    commit_exchanges(&other, 1300..1303).await;
    assert_finds(&one, &[0, 1300, 1302]).await;
    let outlines = one.outlines(&[memoir_core::ConversationId::new(1)]).await.unwrap();
    assert_eq!(outlines.len(), 20);
    assert_eq!((outlines[0].words, outlines[0].created.as_millis()), (4, 0));
}

#[tokio::test]
async fn new_rows_are_added_to_the_last_segment_until_it_is_full() {
    let (_directory, path) = create_packed_store().await;
    // 200 messages and 100 embeddings, of which the latter are too few.
    for (numbers, unpacked) in [(1300..1400, 100), (1400..1500, 0)] {
        let store = open(&path).await;
        commit_exchanges(&store, numbers.clone()).await;
        assert_finds(&store, &[0, 1299, numbers.start, numbers.end - 1]).await;
        store.settle().await;
        store.close().await;
        assert_eq!(count_segments(&path).await, 3, "no segment was added");
        let packed = "SELECT sum(count) FROM _index_segments";
        assert_eq!(crate::count(&path, packed).await, numbers.end * 3 - unpacked);
    }
}

#[tokio::test]
async fn index_is_packed_before_the_store_closes() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    store.fill_for_benchmark(5_000, fill::generate_text).await.unwrap();
    assert_eq!(count_segments(&path).await, 0);
    store.outlines(&[]).await.unwrap();
    store.close().await;
    assert_eq!(count_segments(&path).await, 10_000_i64.div_euclid(2048) + 1);
}

#[tokio::test]
async fn damaged_segment_is_replaced_without_affecting_results() {
    let (_directory, path) = create_packed_store().await;
    for damage in [
        "UPDATE _index_segments SET data = zeroblob(100)",
        "UPDATE _index_segments SET checksum = checksum + 1",
        "UPDATE _index_segments SET count = count - 1, data = substr(data, 2)",
        "DELETE FROM _index_segments WHERE kind = 'vectors'",
        "UPDATE _index_segments SET last_id = last_id + 5000 WHERE id = (SELECT min(id) FROM _index_segments)",
    ] {
        execute(&path, damage).await;
        let store = open(&path).await;
        assert_finds(&store, &[3, 600, 1299]).await;
        store.settle().await;
        store.close().await;
        let store = open(&path).await;
        assert_finds(&store, &[3, 600, 1299]).await;
        store.settle().await;
        store.close().await;
        assert_eq!(count_segments(&path).await, 3, "after {damage}");
    }
}

#[tokio::test]
async fn deletion_removes_only_the_affected_segments() {
    let (_directory, path) = create_packed_store().await;
    let other_process = open(&path).await;
    assert_finds(&other_process, &[15]).await;
    // Exchanges 10 to 19.
    execute(&path, "PRAGMA foreign_keys = ON; DELETE FROM conversations WHERE id = 2").await;
    assert_eq!(count_segments(&path).await, 1, "the first segment of each kind contained deleted rows");
    for store in [other_process, open(&path).await] {
        assert_eq!(nearest(&store, 15, Accuracy::Auto).await, "");
        assert_eq!(count_messages(&store, "word15").await, 0);
        assert_finds(&store, &[9, 20, 700, 1299]).await;
        store.settle().await;
        assert_eq!(count_segments(&path).await, 3, "the remaining rows are packed again");
        assert_finds(&store, &[9, 20, 700, 1299]).await;
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn graph_is_built_in_the_background_saved_and_loaded_again() {
    let (directory, path) = create_packed_store().await;
    let file = directory.path().join("memoir.graph");
    let assert_finds_approximately = async |store: &SqliteStore| {
        for number in [0, 444, 1299] {
            let expected = format!("this is word{number} said");
            assert_eq!(nearest(store, number, Accuracy::Approximate).await, expected);
        }
    };
    let store = open(&path).await;
    assert_finds_approximately(&store).await;
    assert!(store.has_graph().await || !file.exists(), "searches scan until the graph exists");
    store.settle().await;
    assert!(file.exists() && store.has_graph().await);
    assert_finds_approximately(&store).await;
    // Messages that are not in the graph yet are found too.
    commit_exchanges(&store, 1300..1310).await;
    assert_eq!(nearest(&store, 1305, Accuracy::Approximate).await, "this is word1305 said");
    store.close().await;

    let modified = std::fs::metadata(&file).unwrap().modified().unwrap();
    let store = open(&path).await;
    assert_finds_approximately(&store).await;
    store.settle().await;
    assert!(store.has_graph().await);
    assert_eq!(
        std::fs::metadata(&file).unwrap().modified().unwrap(),
        modified,
        "the graph was loaded, not rebuilt"
    );
    store.close().await;

    std::fs::write(&file, b"not a graph").unwrap();
    let store = open(&path).await;
    assert_finds_approximately(&store).await;
    store.settle().await;
    assert!(
        store.has_graph().await && std::fs::metadata(&file).unwrap().len() > 1000,
        "a damaged graph is rebuilt"
    );

    execute(&path, "PRAGMA foreign_keys = ON; DELETE FROM conversations WHERE id = 2").await;
    assert_eq!(nearest(&store, 15, Accuracy::Approximate).await, "");
    store.settle().await;
    assert_eq!(nearest(&store, 15, Accuracy::Approximate).await, "");
    assert_finds_approximately(&store).await;
    store.close().await;
}
