//! Measures what other programs wait for, with 100,000 messages in memory: hooks, each of which is a new process, and the
//! calls and the resident memory of an MCP server. For other sizes, set `MEMOIR_BENCH_MESSAGES=1000,100000`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its results and panics if it cannot run"
)]

use std::time::{Duration, Instant};

use memoir_embed::{DIMENSIONS, NAME};
use memoir_store_sqlite::fill::{fill_file, word_of_rank};
use memoir_testkit::{McpClient, McpRevision, TestHome};
use serde_json::{Value, json};

const SIZES: &str = "100000";
const RUNS: usize = 60;

/// Project of the generated conversations.
const PROJECT: &str = "/made/up";

/// Time without calls after which the server starts over, in milliseconds. By default, that takes a minute.
const IDLE_MS: &str = "5000";

/// Time in which a server certainly starts over: after its work, it looks twice.
const IDLE_TIME: Duration = Duration::from_secs(15);

fn main() {
    // `cargo test --benches` only checks that this builds.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    println!("{RUNS} runs each                          median  95th percentile       worst");
    let sizes = std::env::var("MEMOIR_BENCH_MESSAGES").unwrap_or_else(|_| SIZES.into());
    for messages in sizes.split(',').map(|size| size.trim().parse::<i64>().unwrap()) {
        let home = TestHome::new(env!("CARGO_BIN_EXE_memoir"));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(fill_file(&home.database(), messages, NAME, DIMENSIONS)).unwrap();
        report(messages, "hook that adds nothing", |_| run_hook(&home, "ok").0);
        let mut added = 0;
        report(messages, "hook of a prompt", |run| {
            let (time, output) = run_hook(&home, &question(run));
            added += usize::from(!output.is_empty());
            time
        });
        println!("{messages:>8} messages  {added} of {RUNS} prompts got something added");
        measure_server(&home, messages);
    }
}

/// Runs the hook of a prompt. Returns its time and its output.
fn run_hook(home: &TestHome, prompt: &str) -> (Duration, String) {
    let input = json!({"session_id": "bench", "cwd": PROJECT, "prompt": prompt}).to_string();
    let run = home.memoir(["hook", "UserPromptSubmit"]).env("MEMOIR_HOOK_LIMIT_MS", "60000").stdin(input);
    let started = Instant::now();
    let output = run.succeed();
    (started.elapsed(), output)
}

fn measure_server(home: &TestHome, messages: i64) {
    let run = home.memoir(["mcp", "serve", "--scope", "all"]).env("MEMOIR_MCP_IDLE_MS", IDLE_MS);
    let mut client = McpClient::start(run, McpRevision::V2026, None);
    client.request("tools/list", json!({}));
    let print_resident = |when: &str, pid: u32| {
        println!("{messages:>8} messages  server, resident {when:<22} {:>8.1} MB", resident_megabytes(pid));
    };
    std::thread::sleep(Duration::from_secs(2));
    print_resident("at the start", client.pid());
    report(messages, "server, recall", |run| {
        let started = Instant::now();
        let result = client.call("recall", json!({"question": question(run)}));
        assert_ne!(result["isError"], Value::Bool(true), "{result}");
        started.elapsed()
    });
    print_resident("after that", client.pid());
    std::thread::sleep(IDLE_TIME);
    print_resident("when idle", client.pid());
    assert_eq!(client.close(), Some(0));
}

/// Returns a question with words that are neither stop words nor rare.
fn question(number: usize) -> String {
    let ranks = [150, 600, 3000].map(|rank| word_of_rank(rank + number as u64 * 13));
    format!("What did I say about {} and the {} {}?", ranks[0], ranks[1], ranks[2])
}

fn resident_megabytes(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn report(messages: i64, label: &str, measure: impl FnMut(usize) -> Duration) {
    let mut times: Vec<f64> = (0..RUNS).map(measure).map(|time| time.as_secs_f64() * 1000.0).collect();
    times.sort_by(f64::total_cmp);
    let (median, high, worst) = (times[RUNS / 2], times[RUNS * 95 / 100], times[RUNS - 1]);
    println!("{messages:>8} messages  {label:<24} {median:>8.1} ms {high:>8.1} ms {worst:>8.1} ms");
}
