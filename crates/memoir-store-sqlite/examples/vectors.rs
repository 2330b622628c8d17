//! Stores vectors from a file as message embeddings and searches them, for `bench/vectors.py`. Prints JSON.
//!
//! ```text
//! vectors build VECTORS DATABASE            store every vector of a file of 384 little-endian f32 values each
//! vectors search QUERIES DATABASE auto|ann  search the ten nearest for each query, after a few warm-up queries
//! ```

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its results and panics on errors"
)]

use std::{fs::File, io::BufReader, path::Path, time::Instant};

use memoir_store::{Accuracy, Filter, Memory as _, SearchEffort, VectorSearch};
use memoir_store_sqlite::SqliteStore;
use serde_json::{Value, json};

const DIMENSIONS: usize = 384;
const MODEL: &str = "bench/made-up";
/// Number of warm-up queries, the same for every program in the comparison. Few enough to be realistic for the start of
/// a conversation, and enough to fill the store's caches.
const WARM_UP: usize = 10;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["build", vectors, database] => runtime.block_on(build(Path::new(vectors), Path::new(database))),
        ["search", queries, database, "auto"] => {
            runtime.block_on(search(Path::new(queries), Path::new(database), Accuracy::Auto))
        }
        ["search", queries, database, "ann"] => {
            runtime.block_on(search(Path::new(queries), Path::new(database), Accuracy::Approximate))
        }
        _ => panic!("usage: vectors build VECTORS DATABASE | search QUERIES DATABASE auto|ann"),
    };
    println!("{result}");
}

/// Reads the next vector of a file, if there is one.
fn read_vector(file: &mut impl std::io::Read) -> Option<Vec<f32>> {
    let mut bytes = [0; DIMENSIONS * 4];
    file.read_exact(&mut bytes).ok()?;
    Some(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

/// Returns the size in bytes of the directory that contains the database.
fn size(database: &Path) -> u64 {
    let directory = database.parent().unwrap();
    std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

async fn build(vectors: &Path, database: &Path) -> Value {
    let count = std::fs::metadata(vectors).unwrap().len() / (DIMENSIONS as u64 * 4);
    // Every embedding belongs to a message. The messages are tiny, so that the embeddings dominate.
    let started = Instant::now();
    let store = SqliteStore::open(database).await.unwrap();
    store
        .fill_for_benchmark(i64::try_from(count).unwrap() / 2, |number| format!("message {number}"))
        .await
        .unwrap();
    store.close().await;
    let (rows_seconds, rows_bytes) = (started.elapsed().as_secs_f64(), size(database));

    let started = Instant::now();
    let store = SqliteStore::open(database).await.unwrap();
    let mut file = BufReader::with_capacity(1 << 20, File::open(vectors).unwrap());
    let mut first = Vec::new();
    store
        .fill_vectors_for_benchmark(MODEL, |_| {
            let vector = read_vector(&mut file).unwrap();
            if first.is_empty() {
                first.clone_from(&vector);
            }
            vector
        })
        .await
        .unwrap();
    // The first search packs the index.
    let filter = Filter::default();
    store.nearest(&vector_search(&first, &filter, Accuracy::Exact)).await.unwrap();
    store.settle().await;
    store.close().await;
    json!({
        "build_s": started.elapsed().as_secs_f64(),
        "build_rss_mb": peak_memory(),
        "disk_bytes": size(database) - rows_bytes,
        "rows_s": rows_seconds,
        "rows_bytes": rows_bytes,
    })
}

fn vector_search<'a>(vector: &'a [f32], filter: &'a Filter, accuracy: Accuracy) -> VectorSearch<'a> {
    VectorSearch {
        model: MODEL,
        vector,
        filter,
        effort: SearchEffort { accuracy, ..SearchEffort::default() },
        limit: 10,
    }
}

async fn search(queries: &Path, database: &Path, accuracy: Accuracy) -> Value {
    let mut file = BufReader::new(File::open(queries).unwrap());
    let queries: Vec<Vec<f32>> = std::iter::from_fn(|| read_vector(&mut file)).collect();
    let filter = Filter::default();
    let started = Instant::now();
    let store = SqliteStore::open(database).await.unwrap();
    store.nearest(&vector_search(&queries[0], &filter, accuracy)).await.unwrap();
    let first = started.elapsed();
    // Wait until the graph has been built, if one is needed.
    store.settle().await;
    let graph_ready = started.elapsed();
    for query in &queries[1..WARM_UP] {
        store.nearest(&vector_search(query, &filter, accuracy)).await.unwrap();
        store.settle().await;
    }
    let (mut times, mut results) = (Vec::new(), Vec::new());
    let cpu_start = cpu_seconds();
    for query in &queries[WARM_UP..] {
        let started = Instant::now();
        let nearest = store.nearest(&vector_search(query, &filter, accuracy)).await.unwrap();
        times.push(started.elapsed().as_secs_f64() * 1000.0);
        // Message ids start at 1.
        results.push(nearest.iter().map(|message| message.message_id.get() - 1).collect::<Vec<_>>());
    }
    let cpu_ms = (cpu_seconds() - cpu_start) * 1000.0 / times.len() as f64;
    let has_graph = accuracy == Accuracy::Approximate && store.has_graph().await;
    let peak_memory = peak_memory();
    store.close().await;
    json!({
        "first_ms": first.as_secs_f64() * 1000.0,
        "graph_s": has_graph.then(|| (graph_ready - first).as_secs_f64()),
        "times_ms": times,
        "cpu_ms": cpu_ms,
        "found": results,
        "search_rss_mb": peak_memory,
    })
}

/// Returns the peak memory use of the process in megabytes, like `ru_maxrss`.
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// Returns the CPU time of all current threads.
fn cpu_seconds() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let seconds = threads.map(|thread| {
        let schedstat = std::fs::read_to_string(thread.unwrap().path().join("schedstat")).unwrap_or_default();
        schedstat.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
    });
    seconds.sum()
}
