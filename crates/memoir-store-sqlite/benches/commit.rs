//! Measures how long it takes to commit an exchange to an empty store and to one with 100,000 messages.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run should panic")]

use std::sync::atomic::{AtomicI64, Ordering};

use divan::Bencher;
use memoir_store::{Exchanges as _, contract};
use memoir_store_sqlite::{SqliteStore, fill::generate_text};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const MESSAGES: i64 = 100_000;

fn main() {
    divan::main();
}

fn filled_store(runtime: &Runtime, directory: &TempDir, exchanges: i64) -> SqliteStore {
    runtime.block_on(async {
        let path = directory.path().join("memoir.db");
        let store = SqliteStore::open(&path).await.unwrap();
        store.fill_for_benchmark(exchanges, generate_text).await.unwrap();
        store
    })
}

#[divan::bench(args = [0, MESSAGES], sample_count = 300)]
fn commit_exchange(bencher: Bencher, messages: i64) {
    let runtime = Runtime::new().unwrap();
    let directory = TempDir::new().unwrap();
    let store = filled_store(&runtime, &directory, messages / 2);
    let target = contract::new_conversation("bench", "/bench");
    let first = contract::exchange("the first one", "of this conversation", 1);
    let committed = runtime.block_on(store.commit_exchange(&target, &first)).unwrap();
    let mut target = committed.to_target();
    let number = AtomicI64::new(0);
    bencher
        .with_inputs(|| {
            let number = number.fetch_add(1, Ordering::Relaxed);
            let question = format!("How did we fix the timeout of service {number}?");
            contract::exchange(&question, "By raising the pool's limit and closing idle connections.", number)
        })
        .bench_local_values(|draft| {
            target = runtime.block_on(store.commit_exchange(&target, &draft)).unwrap().to_target();
        });
}

/// Measures a disk sync, which is a lower bound for a commit.
#[divan::bench(sample_count = 300)]
fn sync_disk(bencher: Bencher) {
    use std::io::Write as _;
    let directory = TempDir::new().unwrap();
    let mut file = std::fs::File::create(directory.path().join("file")).unwrap();
    bencher.bench_local(|| {
        file.write_all(&[0; 4096]).unwrap();
        file.sync_data().unwrap();
    });
}
