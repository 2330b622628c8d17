//! Searching vectors and asking memory, as it grows: `cargo bench -p memoir-recall -- 10000 100000 1000000`.
//!
//! The talk is made up, with words as common as words are; the vectors are mixed from those of real sentences. Every
//! size is measured in a process of its own, so that what is resident is what asking took.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark that cannot run should say so")]

use std::{
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use memoir_core::{ConversationId, MessageId, SystemClock, TimeZone, Timestamp};
use memoir_embed::{DIMENSIONS, LocalEmbedder, NAME, embed_blocking};
use memoir_recall::{QueryKind, Recall};
use memoir_store::{
    Accuracy, ConversationList, Conversations as _, Filter, Memory as _, SearchEffort, VectorSearch,
};
use memoir_store_sqlite::{SqliteStore, fill};
use tempfile::TempDir;

const QUERIES: i64 = 60;

/// A graph is built for so many messages at most.
const MOST_FOR_A_GRAPH: i64 = 200_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    // `cargo test --benches` only wants to know that this builds.
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["measure", path] => return runtime.block_on(measure(Path::new(path))),
        ["first", path] => return runtime.block_on(first(Path::new(path))),
        _ => {}
    }
    let sizes: Vec<i64> = arguments.iter().filter_map(|size| size.parse().ok()).collect();
    for size in if sizes.is_empty() { vec![10_000, 100_000] } else { sizes } {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("memoir.db");
        let started = Instant::now();
        runtime.block_on(make(&path, size));
        println!("\n{size} messages with vectors (made in {:.0} s)", started.elapsed().as_secs_f64());
        for mode in ["measure", "first"] {
            let program = std::env::current_exe().unwrap();
            assert!(Command::new(program).arg(mode).arg(&path).status().unwrap().success());
        }
    }
}

/// Sentences of some variety.
fn sentences() -> Vec<String> {
    const WHO: [&str; 12] = [
        "My sister",
        "The build server",
        "Our landlord",
        "The cat",
        "A colleague",
        "The new library",
        "My dentist",
        "The school",
        "Our team",
        "The bakery",
        "My old bicycle",
        "The weather station",
    ];
    const DOES: [&str; 12] = [
        "forgot about",
        "finally mended",
        "complained about",
        "asked me for",
        "is waiting for",
        "lost",
        "sold",
        "explained",
        "postponed",
        "cannot stand",
        "found a way around",
        "pays for",
    ];
    const WHAT: [&str; 14] = [
        "the timeout in the payment service",
        "the trip to Lisbon",
        "the broken boiler",
        "a birthday cake",
        "the tax return",
        "the database migration",
        "piano lessons",
        "the garden fence",
        "a second opinion",
        "the summer holidays",
        "the train tickets",
        "the unit tests",
        "an allergy to nuts",
        "the rent",
    ];
    let mut sentences = Vec::new();
    for who in WHO {
        for does in DOES {
            sentences.extend(WHAT.map(|what| format!("{who} {does} {what}.")));
        }
    }
    sentences
}

struct Mixer {
    real: Vec<Vec<f32>>,
}

impl Mixer {
    fn new() -> Self {
        Self { real: embed_blocking(&sentences()).unwrap().vectors }
    }

    /// The vector of a number: two real ones, mixed, and a little noise.
    fn vector(&self, number: i64) -> Vec<f32> {
        let mut state = number.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / 16_777_216.0
        };
        let mut one = || &self.real[(random() * self.real.len() as f32) as usize % self.real.len()];
        let (a, b) = (one(), one());
        let weight = 0.4 + 0.4 * random();
        let mut vector: Vec<f32> =
            a.iter().zip(b).map(|(a, b)| a + weight * b + 0.12 * (random() - 0.5)).collect();
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|value| *value /= length);
        vector
    }
}

async fn make(path: &Path, messages: i64) {
    let store = SqliteStore::open(path).await.unwrap();
    store.fill_for_benchmark(messages / 2, fill::talk).await.unwrap();
    let mixer = Mixer::new();
    store.fill_vectors_for_benchmark(NAME, |number| mixer.vector(number)).await.unwrap();
    store.fill_summaries_for_benchmark(NAME, |number| mixer.vector(number)).await.unwrap();
    // Whoever searches first packs the index.
    store.outlines(&[]).await.unwrap();
    let (filter, vector) = (Filter::default(), mixer.vector(1));
    store.nearest(&search(&vector, &filter, Accuracy::Exact)).await.unwrap();
    store.settle().await;
    store.close().await;
}

/// How many messages there are, by when the last was said: an exchange every second.
fn messages_until(end: i64) -> i64 {
    end / 1000 * 2
}

fn search<'a>(vector: &'a [f32], filter: &'a Filter, accuracy: Accuracy) -> VectorSearch<'a> {
    VectorSearch {
        model: NAME,
        vector,
        filter,
        effort: SearchEffort { accuracy, ..SearchEffort::default() },
        limit: 10,
    }
}

fn recall(store: &SqliteStore) -> Recall {
    Recall::new(Arc::new(store.clone()), Arc::new(LocalEmbedder), Arc::new(SystemClock), TimeZone::UTC)
}

/// A question of ordinary length, with words that are neither stop words nor rare.
fn question(number: i64) -> String {
    let ranks = [150, 600, 3000].map(|rank| rank + u64::try_from(number).unwrap() * 13);
    let [one, two, three] = ranks.map(fill::word_of_rank);
    format!("What did I say about {one} and the {two} {three}?")
}

async fn first(path: &Path) {
    let store = SqliteStore::open(path).await.unwrap();
    let started = Instant::now();
    recall(&store).ask(&question(1), QueryKind::Search, Filter::default()).await;
    println!("  first question of a process     {:>8.1} ms", millis(started.elapsed()));
    store.close().await;
}

async fn measure(path: &Path) {
    let store = SqliteStore::open(path).await.unwrap();
    let asked = recall(&store);
    // After the first few questions, a process that goes on talking has all in memory that it will have.
    for _ in 0..5 {
        asked.ask(&question(0), QueryKind::Search, Filter::default()).await;
    }
    store.settle().await;
    let mut times = Vec::new();
    for number in 1..=QUERIES {
        let started = Instant::now();
        asked.ask(&question(number), QueryKind::Search, Filter::default()).await;
        times.push(started.elapsed());
    }
    print_times("asking memory", &mut times);
    println!("  resident after that             {:>8.0} MB", resident());

    let mixer = Mixer::new();
    let queries: Vec<Vec<f32>> = (1..=QUERIES).map(|number| mixer.vector(-number)).collect();
    // The last conversation was the last to be used, and its last exchange tells how many there are.
    let last = store
        .conversations(&ConversationList { scope: None, limit: 1, ..ConversationList::default() })
        .await
        .unwrap();
    let end = last[0].updated.as_millis();
    let since = |share: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "a moment")]
        let moment = (end as f64 * (1.0 - share)) as i64;
        Filter { since: Some(Timestamp::from_millis(moment)), ..Filter::default() }
    };
    let elsewhere = Filter { except: Some(ConversationId::new(1)), ..Filter::default() };
    for (name, filter) in [
        ("vectors, all", Filter::default()),
        ("vectors, but one conversation", elsewhere),
        ("vectors, the newest half", since(0.5)),
        ("vectors, the newest tenth", since(0.1)),
        ("vectors, the newest hundredth", since(0.01)),
        ("vectors, one conversation", Filter { within: Some(last[0].id), ..Filter::default() }),
    ] {
        vectors(&store, name, &queries, &filter, Accuracy::Exact).await;
    }
    let truth = exact(&store, &queries).await;
    let recall_at_10 = async |mode| {
        let mut hits = 0;
        for (query, truth) in queries.iter().zip(&truth) {
            let filter = Filter::default();
            let found = store.nearest(&search(query, &filter, mode)).await.unwrap();
            hits += found.iter().filter(|found| truth.contains(&found.message_id)).count();
        }
        hits as f64 / (10 * queries.len()) as f64
    };
    println!("  recall@10 of the scan           {:>8.4}", recall_at_10(Accuracy::Exact).await);
    // Many minutes beyond that, for what the scan does as well.
    if messages_until(end) > MOST_FOR_A_GRAPH {
        store.close().await;
        return;
    }
    let started = Instant::now();
    let filter = Filter::default();
    store.nearest(&search(&queries[0], &filter, Accuracy::Approximate)).await.unwrap();
    store.settle().await;
    println!("  building the graph              {:>8.1} s", started.elapsed().as_secs_f64());
    vectors(&store, "vectors along the graph, all", &queries, &filter, Accuracy::Approximate).await;
    vectors(&store, "  the newest half", &queries, &since(0.5), Accuracy::Approximate).await;
    println!("  recall@10 of the graph          {:>8.4}", recall_at_10(Accuracy::Approximate).await);
    store.close().await;
}

async fn vectors(store: &SqliteStore, name: &str, queries: &[Vec<f32>], filter: &Filter, accuracy: Accuracy) {
    let mut times = Vec::new();
    for query in queries {
        let started = Instant::now();
        store.nearest(&search(query, filter, accuracy)).await.unwrap();
        times.push(started.elapsed());
    }
    print_times(name, &mut times);
}

/// The true ten nearest, by looking at every vector.
async fn exact(store: &SqliteStore, queries: &[Vec<f32>]) -> Vec<Vec<MessageId>> {
    let mut best: Vec<Vec<(f32, MessageId)>> = vec![Vec::new(); queries.len()];
    let mut from = 1;
    loop {
        let ids: Vec<MessageId> = (from..from + 10_000).map(MessageId::new).collect();
        let vectors = store.vectors(NAME, &ids).await.unwrap();
        if vectors.is_empty() {
            break;
        }
        from += 10_000;
        for (query, best) in queries.iter().zip(&mut best) {
            for (id, vector) in &vectors {
                assert_eq!(vector.len(), DIMENSIONS);
                best.push((query.iter().zip(vector).map(|(a, b)| a * b).sum(), *id));
            }
            best.sort_by(|a, b| b.0.total_cmp(&a.0));
            best.truncate(10);
        }
    }
    best.into_iter().map(|best| best.into_iter().map(|(_, id)| id).collect()).collect()
}

fn print_times(name: &str, times: &mut [Duration]) {
    times.sort();
    let (median, worst) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!(
        "  {name:<30}  {:>8.2} ms median, {:.2} ms at the 99th percentile",
        millis(median),
        millis(worst)
    );
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Megabytes that the process holds.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
