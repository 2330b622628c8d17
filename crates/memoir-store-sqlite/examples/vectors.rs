//! Vectors from a file, filed and searched as messages' vectors are, for `bench/vectors.py`. Prints JSON.
//!
//! ```text
//! vectors build VECTORS DATABASE            files every vector of a raw file of 384 little-endian f32 each
//! vectors search QUERIES DATABASE auto|ann  asks for the ten nearest of each, after a few that are not counted
//! ```

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark that cannot run should say so")]

use std::{fs::File, io::BufReader, path::Path, time::Instant};

use memoir_store::{Accuracy, Filter, Memory as _, SearchEffort, VectorSearch};
use memoir_store_sqlite::SqliteStore;
use serde_json::{Value, json};

const DIMENSIONS: usize = 384;
const MODEL: &str = "bench/made-up";
/// As many as every peer is asked before the clock runs. Few enough to be the start of a talk, enough for what the
/// store keeps at hand to be there.
const WARMING: usize = 10;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let told = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["build", vectors, database] => runtime.block_on(build(Path::new(vectors), Path::new(database))),
        ["search", queries, database, "auto"] => {
            runtime.block_on(search(Path::new(queries), Path::new(database), Accuracy::Auto))
        }
        ["search", queries, database, "ann"] => {
            runtime.block_on(search(Path::new(queries), Path::new(database), Accuracy::Approximate))
        }
        _ => panic!("usage: vectors build VECTORS DATABASE | search QUERIES DATABASE auto|ann"),
    };
    println!("{told}");
}

/// The next vector of a file, if there is one.
fn next(file: &mut impl std::io::Read) -> Option<Vec<f32>> {
    let mut bytes = [0; DIMENSIONS * 4];
    file.read_exact(&mut bytes).ok()?;
    Some(bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect())
}

/// What a database takes on disk, with all that stands beside it.
fn size(database: &Path) -> u64 {
    let folder = database.parent().unwrap();
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

async fn build(vectors: &Path, database: &Path) -> Value {
    let count = std::fs::metadata(vectors).unwrap().len() / (DIMENSIONS as u64 * 4);
    // A vector belongs to a message; these say next to nothing, so that what is measured is vectors.
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
            let vector = next(&mut file).unwrap();
            if first.is_empty() {
                first.clone_from(&vector);
            }
            vector
        })
        .await
        .unwrap();
    // Whoever searches first packs the index.
    let filter = Filter::default();
    store.nearest(&wanted(&first, &filter, Accuracy::Exact)).await.unwrap();
    store.settle().await;
    store.close().await;
    json!({
        "build_s": started.elapsed().as_secs_f64(),
        "build_rss_mb": peak(),
        "disk_bytes": size(database) - rows_bytes,
        "rows_s": rows_seconds,
        "rows_bytes": rows_bytes,
    })
}

fn wanted<'a>(vector: &'a [f32], filter: &'a Filter, accuracy: Accuracy) -> VectorSearch<'a> {
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
    let queries: Vec<Vec<f32>> = std::iter::from_fn(|| next(&mut file)).collect();
    let filter = Filter::default();
    let started = Instant::now();
    let store = SqliteStore::open(database).await.unwrap();
    store.nearest(&wanted(&queries[0], &filter, accuracy)).await.unwrap();
    let first = started.elapsed();
    // A graph is built now, if it is wanted and not there; packing is over.
    store.settle().await;
    let settled = started.elapsed();
    for query in &queries[1..WARMING] {
        store.nearest(&wanted(query, &filter, accuracy)).await.unwrap();
        store.settle().await;
    }
    let (mut times, mut found) = (Vec::new(), Vec::new());
    let used = processor_seconds();
    for query in &queries[WARMING..] {
        let started = Instant::now();
        let nearest = store.nearest(&wanted(query, &filter, accuracy)).await.unwrap();
        times.push(started.elapsed().as_secs_f64() * 1000.0);
        // Messages are numbered from one.
        found.push(nearest.iter().map(|found| found.message_id.get() - 1).collect::<Vec<_>>());
    }
    let used = (processor_seconds() - used) * 1000.0 / times.len() as f64;
    let graph = accuracy == Accuracy::Approximate && store.has_graph().await;
    let resident = peak();
    store.close().await;
    json!({
        "first_ms": first.as_secs_f64() * 1000.0,
        "graph_s": graph.then(|| (settled - first).as_secs_f64()),
        "times_ms": times,
        "cpu_ms": used,
        "found": found,
        "search_rss_mb": resident,
    })
}

/// The most that the process has held, in megabytes: what `ru_maxrss` tells.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// How long all threads that there are have kept a processor.
fn processor_seconds() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let seconds = threads.map(|thread| {
        let told = std::fs::read_to_string(thread.unwrap().path().join("schedstat")).unwrap_or_default();
        told.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
    });
    seconds.sum()
}
