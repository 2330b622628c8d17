//! Measures startup time, resident memory, and the latency of `/resume`, `/history` and `memoir search`, with an empty
//! memory and with 100,000 messages in 5,000 conversations. For other sizes, set
//! `MEMOIR_BENCH_MESSAGES=1000,10000,100000,1000000`. If `AICHAT` names the program aichat, its start is measured in
//! alternation with Memoir's, so that both meet the same load.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its results and panics if it cannot run"
)]

use std::time::{Duration, Instant};

use memoir_embed::{DIMENSIONS, NAME};
use memoir_store_sqlite::fill::{EXCHANGES_PER_CONVERSATION, fill_file};
use memoir_testkit::{Terminal, TestHome};

/// Default numbers of messages.
const SIZES: &str = "0,100000";
const RUNS: usize = 30;

/// aichat's config: with a model it starts without questions. No request is sent.
const AICHAT_CONFIG: &str = "model: openai:gpt-4o-mini\nclients:\n- type: openai\n  api_key: sk-bench\n";

fn main() {
    // `cargo test --benches` only checks that this builds.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    println!("{RUNS} runs each                          median       worst");
    let sizes = std::env::var("MEMOIR_BENCH_MESSAGES").unwrap_or_else(|_| SIZES.into());
    for messages in sizes.split(',').map(|size| size.trim().parse::<i64>().unwrap()) {
        let home = TestHome::new(env!("CARGO_BIN_EXE_memoir"));
        fill(&home, messages);
        // Switch the workers off, so that background work does not affect the results.
        home.write_config("[workers]\nembedding_generator = \"off\"\nexchange_summarizer = \"off\"\nconversation_summarizer = \"off\"\n");
        let open = || {
            let terminal = Terminal::open(&home, None, (24, 80), &[]);
            terminal.wait_for_prompt();
            terminal
        };
        report_starts(messages, &open);
        if messages == 0 {
            continue;
        }
        let last = format!("Conversation {}", messages / 2 / EXCHANGES_PER_CONVERSATION - 1);
        report(messages, "/resume, list", || {
            let terminal = open();
            let started = Instant::now();
            terminal.type_keys("/resume\r");
            terminal.wait_for(&last);
            started.elapsed()
        });
        report(messages, "/resume, typing", || {
            let terminal = open();
            terminal.type_keys("/resume\r");
            terminal.wait_for(&last);
            let started = Instant::now();
            terminal.type_keys("tion 24");
            terminal.wait_until("one of them", |screen| {
                screen.contains("Conversation 24") && !screen.contains(&last)
            });
            started.elapsed()
        });
        report(messages, "/resume ID, /history", || {
            let terminal = open();
            let started = Instant::now();
            // The line editor treats more than ten keys at once as pasted text and waits for its end.
            terminal.type_keys("/resume 9\r");
            terminal.wait_for("Resumed conversation 9");
            terminal.type_keys("/history\r");
            terminal.wait_for("answer 89");
            started.elapsed()
        });
        report(messages, "memoir search", || {
            let started = Instant::now();
            home.memoir(["search", "the lighthouse keeper"]).succeed();
            started.elapsed()
        });
    }
}

/// Reports the time to the prompt and the resident memory, and those of aichat if it is there.
fn report_starts(messages: i64, open: &dyn Fn() -> Terminal) {
    let mut starts = vec![("start to prompt", "resident", open, Vec::new(), 0)];
    let aichat = std::env::var_os("AICHAT").map(TestHome::new);
    let open_aichat = || {
        let home = aichat.as_ref().unwrap();
        let directory = home.workspace();
        std::fs::write(directory.join("config.yaml"), AICHAT_CONFIG).unwrap();
        let variables = [("AICHAT_CONFIG_DIR", directory.to_str().unwrap())];
        let terminal = Terminal::open_with(home, None, (24, 80), &[], &variables);
        terminal.wait_for_prompt();
        terminal
    };
    if aichat.is_some() {
        starts.push(("aichat to prompt", "aichat resident", &open_aichat, Vec::new(), 0));
    }
    for _ in 0..RUNS {
        for (_, _, open, times, resident) in &mut starts {
            let started = Instant::now();
            let terminal = open();
            times.push(started.elapsed());
            // Include what the program loads in the background for the first prompt.
            std::thread::sleep(Duration::from_millis(500));
            *resident = terminal.resident_kilobytes().max(*resident);
        }
    }
    for (label, resident_label, _, times, resident) in starts {
        print_times(messages, label, times);
        println!("{messages:>8} messages  {resident_label:<16} {:>8.1} MB", resident as f64 / 1024.0);
    }
}

fn report(messages: i64, label: &str, measure: impl FnMut() -> Duration) {
    print_times(messages, label, std::iter::repeat_with(measure).take(RUNS).collect());
}

fn print_times(messages: i64, label: &str, mut times: Vec<Duration>) {
    times.sort();
    let (median, worst) = (millis(times[RUNS / 2]), millis(times[RUNS - 1]));
    println!("{messages:>8} messages  {label:<22} {median:>8.1} ms {worst:>8.1} ms");
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn fill(home: &TestHome, messages: i64) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(fill_file(&home.database(), messages, NAME, DIMENSIONS)).unwrap();
}
