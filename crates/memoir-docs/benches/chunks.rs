//! Measures adding documents, adding them again, and finding the documents related to ten chunks of messages.
//!
//! `cargo bench -p memoir-docs --bench chunks [CHUNKS]`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "benchmarks print, and panic on errors")]

#[path = "../tests/documents/topics.rs"]
#[allow(dead_code, reason = "some items are used only by tests")]
mod topics;

use std::{fs, sync::Arc, time::Instant};

use memoir_core::{ChunkId, count_tokens};
use memoir_docs::{AddOutcome, Library, select_files};
use memoir_embed::LocalEmbedder;
use memoir_recall::{Recall, to_markdown};
use memoir_store::ChunkVectors;
use topics::{TopicSet, embed_all};

#[tokio::main]
async fn main() {
    let chunk_count: usize = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(10_000);
    let set = TopicSet::load();
    let directory = tempfile::tempdir().unwrap();
    let recall = TopicSet { topics: Vec::new() }.library(directory.path(), Arc::new(LocalEmbedder)).await;
    let notes = directory.path().join("notes");
    fs::create_dir(&notes).unwrap();
    // Each file has ten chunks.
    let sentences: Vec<&String> = set.topics.iter().flat_map(|topic| &topic.messages).collect();
    for number in 0..chunk_count / 10 {
        let mut text = format!("# Note {number}\n\n");
        let mut offset = number * 7;
        while text.len() < 71_000 {
            let paragraph: Vec<&str> =
                (0..6).map(|step| sentences[(offset + step * 13) % sentences.len()].as_str()).collect();
            text.push_str(&format!("{} {offset}.\n\n", paragraph.join(" ")));
            offset += 1;
        }
        fs::write(notes.join(format!("{number}.md")), text).unwrap();
    }
    let library = Library { recall: &recall };
    for label in ["first time", "second time"] {
        let start = Instant::now();
        let (mut chunks, mut unchanged) = (0, 0);
        for file in select_files(std::slice::from_ref(&notes)).paths {
            let added = library.add(&file).await.unwrap();
            chunks += added.chunks;
            unchanged += usize::from(added.outcome == AddOutcome::Unchanged);
        }
        let elapsed = start.elapsed();
        println!("{label}: {chunks} new chunks, {unchanged} unchanged files, {elapsed:.1?}");
    }
    measure_embedding(&set).await;
    measure_search(&recall, &set).await;
}

async fn measure_embedding(set: &TopicSet) {
    let directory = tempfile::tempdir().unwrap();
    let recall = TopicSet { topics: Vec::new() }.library(directory.path(), Arc::new(LocalEmbedder)).await;
    let library = Library { recall: &recall };
    let text: String =
        set.topics.iter().flat_map(|topic| &topic.posts).map(|post| format!("{}\n\n", post.text)).collect();
    let path = directory.path().join("all.md");
    fs::write(&path, text).unwrap();
    let added = library.add(&path).await.unwrap();
    let start = Instant::now();
    embed_all(&recall).await;
    let elapsed = start.elapsed();
    println!(
        "embedded by the built-in model: {} chunks in {elapsed:.1?}, {:.0} ms each",
        added.chunks,
        elapsed.as_secs_f64() * 1000.0 / added.chunks as f64
    );
}

/// Measures the search for documents related to ten chunks of messages. The documents have random vectors, because
/// only the search is measured.
async fn measure_search(recall: &Recall, set: &TopicSet) {
    let dimensions = memoir_embed::DIMENSIONS;
    let mut seed = 1_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
    };
    let mut chunks = 0_u64;
    let documents = recall.store.documents().await.unwrap();
    let mut batch = Vec::new();
    for document in &documents {
        for chunk in recall.store.document_chunks(document.id).await.unwrap() {
            let random_vector = |random: &mut dyn FnMut() -> f32| {
                let vector: Vec<f32> = (0..dimensions).map(|_| random()).collect();
                let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
                vector.into_iter().map(|value| value / length).collect::<Vec<f32>>()
            };
            let length = chunk.text.len();
            let parts = (0..8)
                .map(|index| (length * index / 8..length * (index + 1) / 8, random_vector(&mut random)))
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
    for run in ["first run, which loads the index", "second run", "third run"] {
        let start = Instant::now();
        let outcome = recall.find_related_documents(&window).await;
        let elapsed = start.elapsed();
        let log = match outcome {
            Ok(related) => related.log,
            Err(memoir_recall::RelatedDocumentsError::NoHits { log }) => log,
            Err(error) => vec![error.to_string()],
        };
        println!(
            "{} messages against {chunks} chunks ({run}): {elapsed:.1?}; {}",
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
    println!("one vector search: {:.2} ms", start.elapsed().as_secs_f64() * 50.0);
}
