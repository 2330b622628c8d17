//! What it costs to add documents, to add them again, and to ask about a window of ten chunks.
//!
//! `cargo bench -p memoir-docs --bench chunks [CHUNKS]`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints, and may panic")]

#[path = "../tests/documents/topics.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod topics;

use std::{fs, sync::Arc, time::Instant};

use memoir_core::{ChunkId, count_tokens};
use memoir_docs::{AddOutcome, Library, select_files};
use memoir_embed::LocalEmbedder;
use memoir_recall::{Recall, to_markdown};
use memoir_store::ChunkVectors;
use topics::{Set, embed_all};

#[tokio::main]
async fn main() {
    let wanted: usize = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(10_000);
    let set = Set::load();
    let folder = tempfile::tempdir().unwrap();
    let recall = Set { topics: Vec::new() }.library(folder.path(), Arc::new(LocalEmbedder)).await;
    let notes = folder.path().join("notes");
    fs::create_dir(&notes).unwrap();
    // Each file is of ten chunks.
    let sentences: Vec<&String> = set.topics.iter().flat_map(|topic| &topic.messages).collect();
    for number in 0..wanted / 10 {
        let mut text = format!("# Note {number}\n\n");
        let mut place = number * 7;
        while text.len() < 71_000 {
            let paragraph: Vec<&str> =
                (0..6).map(|step| sentences[(place + step * 13) % sentences.len()].as_str()).collect();
            text.push_str(&format!("{} {place}.\n\n", paragraph.join(" ")));
            place += 1;
        }
        fs::write(notes.join(format!("{number}.md")), text).unwrap();
    }
    let library = Library { recall: &recall };
    for what in ["added", "added again"] {
        let start = Instant::now();
        let (mut chunks, mut unchanged) = (0, 0);
        for file in select_files(std::slice::from_ref(&notes)).found {
            let added = library.add(&file).await.unwrap();
            chunks += added.chunks;
            unchanged += usize::from(added.outcome == AddOutcome::Unchanged);
        }
        let took = start.elapsed();
        println!("{what}: {chunks} chunks new, {unchanged} files unchanged, {took:.1?}");
    }
    embedding(&set).await;
    query(&recall, &set).await;
}

/// How long the real model takes for a chunk.
async fn embedding(set: &Set) {
    let folder = tempfile::tempdir().unwrap();
    let some = Set { topics: Vec::new() }.library(folder.path(), Arc::new(LocalEmbedder)).await;
    let library = Library { recall: &some };
    let text: String =
        set.topics.iter().flat_map(|topic| &topic.posts).map(|post| format!("{}\n\n", post.text)).collect();
    let path = folder.path().join("all.md");
    fs::write(&path, text).unwrap();
    let added = library.add(&path).await.unwrap();
    let start = Instant::now();
    embed_all(&some).await;
    let took = start.elapsed();
    println!(
        "read by the compiled-in model: {} chunks in {took:.1?}, {:.0} ms each",
        added.chunks,
        took.as_secs_f64() * 1000.0 / added.chunks as f64
    );
}

/// A window of ten chunks against everything. The vectors of the notes are made up: it is the search that is measured.
async fn query(recall: &Recall, set: &Set) {
    let dimensions = memoir_embed::DIMENSIONS;
    let mut seed = 1_u64;
    let mut number = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
    };
    let mut chunks = 0_u64;
    let documents = recall.store.documents().await.unwrap();
    let mut batch = Vec::new();
    for document in &documents {
        for chunk in recall.store.chunks_of(document.id).await.unwrap() {
            let part = |number: &mut dyn FnMut() -> f32| {
                let vector: Vec<f32> = (0..dimensions).map(|_| number()).collect();
                let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
                vector.into_iter().map(|value| value / length).collect::<Vec<f32>>()
            };
            let length = chunk.text.len();
            let parts = (0..8)
                .map(|place| (length * place / 8..length * (place + 1) / 8, part(&mut number)))
                .collect();
            batch.push(ChunkVectors { chunk_id: ChunkId::new(chunk.id.get()), parts });
            chunks += 1;
        }
        if batch.len() > 1000 {
            recall
                .store
                .put_chunk_vectors(recall.embedder.name(), &std::mem::take(&mut batch))
                .await
                .unwrap();
        }
    }
    recall.store.put_chunk_vectors(recall.embedder.name(), &batch).await.unwrap();
    let mut messages = 0;
    let window = loop {
        messages += 30;
        let window = set.window(&[(0, messages / 3), (1, messages / 3), (2, messages / 3)]);
        if count_tokens(&to_markdown(&window, &recall.zone)) > 16_000 {
            break window;
        }
    };
    for way in ["first, the index read", "second", "third"] {
        let start = Instant::now();
        let outcome = recall.related(&window).await;
        let took = start.elapsed();
        let log = match outcome {
            Ok(related) => related.log,
            Err(memoir_recall::RelatedDocumentsError::NoHits { log }) => log,
            Err(error) => vec![error.to_string()],
        };
        println!(
            "{} messages against {chunks} chunks ({way}): {took:.1?}; {}",
            window.len(),
            log.first().cloned().unwrap_or_default()
        );
    }
    let vector = recall
        .embedder
        .embed(&["a question".into()], memoir_models::EmbedTask::Query)
        .await
        .unwrap()
        .vectors
        .remove(0);
    let search = memoir_store::ChunkSearch {
        model: recall.embedder.name(),
        vector: &vector,
        effort: memoir_store::SearchEffort {
            accuracy: memoir_store::Accuracy::Exact,
            ..memoir_store::SearchEffort::default()
        },
        filter: &memoir_store::DocumentFilter::default(),
        limit: 5,
    };
    let start = Instant::now();
    for _ in 0..20 {
        recall.store.nearest_chunks(&search).await.unwrap();
    }
    println!("one search of it: {:.2} ms", start.elapsed().as_secs_f64() * 50.0);
}
