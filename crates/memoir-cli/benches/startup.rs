//! From starting the program to a drawn prompt, with nothing and with 100,000 messages in the file; and how
//! much memory it holds then.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark that cannot run should say so")]

use std::time::{Duration, Instant};

use memoir_store::sqlite::{SqliteStore, fill::talk};
use memoir_testkit::{Home, Terminal};

const MESSAGES: i64 = 100_000;
const RUNS: usize = 30;

fn main() {
    // `cargo test --benches` only wants to know that this builds.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    println!("start to prompt, {RUNS} runs each     median       worst    resident");
    for messages in [0, MESSAGES] {
        let home = Home::new(env!("CARGO_BIN_EXE_memoir"));
        fill(&home, messages);
        let mut times: Vec<Duration> = Vec::with_capacity(RUNS);
        let mut resident = 0;
        for _ in 0..RUNS {
            let started = Instant::now();
            let terminal = Terminal::open(&home, None, (24, 80), &[]);
            terminal.wait_for_prompt();
            times.push(started.elapsed());
            resident = resident.max(terminal.resident_kilobytes());
        }
        times.sort();
        println!(
            "{messages:>8} messages           {:>8.1} ms {:>8.1} ms {:>8.1} MB",
            millis(times[RUNS / 2]),
            millis(times[RUNS - 1]),
            resident as f64 / 1024.0
        );
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn fill(home: &Home, messages: i64) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(&home.database()).await.unwrap();
        store.fill_for_benchmark(messages / 2, talk).await.unwrap();
        store.close().await;
    });
}
