//! Tests of chunk embeddings: packing, deletion with their documents, and searches with a graph.

use memoir_core::{DocumentKind, Timestamp};
use memoir_store::{
    Accuracy, ChunkSearch, ChunkSpan, ChunkVectors, DocumentFilter, Documents as _, NewDocument, SearchEffort,
};
use memoir_store_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::{index::vector, open};

/// Stores documents of 100 chunks each. Chunk `n`, counted over all documents, has two parts, the second of which is
/// embedded as `vector(n)`.
async fn fill(store: &SqliteStore, documents: i64) {
    let lines = |text: &str| {
        let mut end = 0;
        let span = |line: &str| {
            let start = end;
            end += line.len();
            ChunkSpan { new: start..end, overlap: 0, tokens: 2 }
        };
        text.split_inclusive('\n').map(span).collect()
    };
    for document in 0..documents {
        let text: String = (0..100).map(|line| format!("line {}\n", document * 100 + line)).collect();
        let new = NewDocument {
            slug: format!("d{document}"),
            title: "t".into(),
            date: "2025-01-01".into(),
            tags: Vec::new(),
            kind: DocumentKind::File,
            source: format!("/d{document}"),
            hash: document.to_string(),
            text,
            written_from: Vec::new(),
        };
        let id = store.put_document(&new, &lines, Timestamp::from_millis(0)).await.unwrap().id;
        let chunks = store.document_chunks(id).await.unwrap();
        let vectors: Vec<ChunkVectors> = (document * 100..)
            .zip(chunks)
            .map(|(number, chunk)| ChunkVectors {
                chunk_id: chunk.id,
                parts: vec![(0..4, vector(1_000_000 + number)), (4..6, vector(number))],
            })
            .collect();
        store.put_chunk_vectors("m", &vectors).await.unwrap();
    }
}

/// Returns the text of the chunk embedded as `vector(number)`.
async fn nearest(store: &SqliteStore, number: i64, accuracy: Accuracy) -> Option<String> {
    let (vector, filter) = (vector(number), DocumentFilter::default());
    let effort = SearchEffort { accuracy, ..SearchEffort::default() };
    let search = ChunkSearch { model: "m", vector: &vector, effort, filter: &filter, limit: 1 };
    let matches = store.nearest_chunks(&search).await.unwrap();
    let best = matches.first().filter(|chunk| chunk.score > 0.99)?;
    Some(store.chunks(&[best.chunk_id]).await.unwrap().remove(0).text)
}

#[tokio::test]
async fn next_process_finds_packed_chunks_until_their_document_is_deleted() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    fill(&store, 12).await;
    assert_eq!(nearest(&store, 1111, Accuracy::Exact).await.as_deref(), Some("line 1111\n"));
    store.settle().await;
    store.close().await;
    let segments = crate::count(&path, "SELECT count(*) FROM _index_segments WHERE kind = 'chunks'").await;
    assert_eq!(segments, 2, "for 2,400 embeddings");

    let store = open(&path).await;
    for number in [0, 517, 1199] {
        assert_eq!(nearest(&store, number, Accuracy::Exact).await, Some(format!("line {number}\n")));
    }
    let document = store.document("d10").await.unwrap().unwrap();
    store.delete_document(document.id).await.unwrap();
    let count_segments = "SELECT count(*) FROM _index_segments WHERE kind = 'chunks'";
    assert_eq!(crate::count(&path, count_segments).await, 0, "both segments contained deleted rows");
    assert_eq!(nearest(&store, 1017, Accuracy::Exact).await, None, "the index no longer contains it");
    assert_eq!(nearest(&store, 617, Accuracy::Exact).await.as_deref(), Some("line 617\n"));
    store.settle().await;
    store.close().await;
    assert_eq!(crate::count(&path, count_segments).await, 2, "the remaining rows are packed again");
}

#[tokio::test]
async fn graph_is_built_and_deleted_with_the_last_document() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    fill(&store, 3).await;
    assert_eq!(
        nearest(&store, 42, Accuracy::Approximate).await.as_deref(),
        Some("line 42\n"),
        "searches scan until the graph exists"
    );
    store.settle().await;
    let graph = path.with_extension("documents.graph");
    assert!(graph.exists());
    assert_eq!(nearest(&store, 142, Accuracy::Approximate).await.as_deref(), Some("line 142\n"));
    for document in store.documents().await.unwrap() {
        store.delete_document(document.id).await.unwrap();
    }
    assert_eq!(nearest(&store, 142, Accuracy::Approximate).await, None);
    store.settle().await;
    assert!(!graph.exists(), "the graph would reveal how deleted documents were related");
    store.close().await;
}
