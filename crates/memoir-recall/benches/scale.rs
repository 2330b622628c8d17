//! Measures vector search and recall at growing sizes: `cargo bench -p memoir-recall -- 10000 100000 1000000`.
//!
//! The conversations are synthetic, with a realistic distribution of word frequencies. The embeddings are mixtures of
//! those of real sentences. Each size is measured in its own process, so that the resident memory is that of recall.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints results and panics on errors"
)]

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

/// Maximum number of messages for which the graph is measured. Building a larger one takes many minutes.
const MAX_GRAPH_MESSAGES: i64 = 200_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    // `cargo test --benches` only checks that this builds.
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["measure", path] => return runtime.block_on(measure(Path::new(path))),
        ["first", path] => return runtime.block_on(measure_first(Path::new(path))),
        _ => {}
    }
    let sizes: Vec<i64> = arguments.iter().filter_map(|size| size.parse().ok()).collect();
    for size in if sizes.is_empty() { vec![10_000, 100_000] } else { sizes } {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("memoir.db");
        let started = Instant::now();
        runtime.block_on(create_store(&path, size));
        println!("\n{size} messages with embeddings (created in {:.0} s)", started.elapsed().as_secs_f64());
        for mode in ["measure", "first"] {
            let program = std::env::current_exe().unwrap();
            assert!(Command::new(program).arg(mode).arg(&path).status().unwrap().success());
        }
    }
}

/// Returns about two thousand different sentences.
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

    /// Returns a vector derived from `number`: two real embeddings, mixed, with a little noise.
    fn vector(&self, number: i64) -> Vec<f32> {
        let mut state = number.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / 16_777_216.0
        };
        let mut pick = || &self.real[(random() * self.real.len() as f32) as usize % self.real.len()];
        let (a, b) = (pick(), pick());
        let weight = 0.4 + 0.4 * random();
        let mut vector: Vec<f32> =
            a.iter().zip(b).map(|(a, b)| a + weight * b + 0.12 * (random() - 0.5)).collect();
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|value| *value /= length);
        vector
    }
}

async fn create_store(path: &Path, messages: i64) {
    let store = SqliteStore::open(path).await.unwrap();
    store.fill_for_benchmark(messages / 2, fill::generate_text).await.unwrap();
    let mixer = Mixer::new();
    store.fill_vectors_for_benchmark(NAME, |number| mixer.vector(number)).await.unwrap();
    store.fill_summaries_for_benchmark(NAME, |number| mixer.vector(number)).await.unwrap();
    // The first search packs the index.
    store.outlines(&[]).await.unwrap();
    let (filter, vector) = (Filter::default(), mixer.vector(1));
    store.nearest(&search(&vector, &filter, Accuracy::Exact)).await.unwrap();
    store.settle().await;
    store.close().await;
}

/// Returns the number of messages, given the time of the last one. There is one exchange per second.
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

/// Returns a question of typical length with words that are neither stop words nor rare.
fn question(number: i64) -> String {
    let ranks = [150, 600, 3000].map(|rank| rank + u64::try_from(number).unwrap() * 13);
    let [one, two, three] = ranks.map(fill::word_of_rank);
    format!("What did I say about {one} and the {two} {three}?")
}

async fn measure_first(path: &Path) {
    let store = SqliteStore::open(path).await.unwrap();
    let started = Instant::now();
    recall(&store).ask(&question(1), QueryKind::Search, Filter::default()).await;
    println!("  first question of a process     {:>8.1} ms", millis(started.elapsed()));
    store.close().await;
}

async fn measure(path: &Path) {
    let store = SqliteStore::open(path).await.unwrap();
    let recall = recall(&store);
    // After a few questions, everything that recall keeps in memory is loaded.
    for _ in 0..5 {
        recall.ask(&question(0), QueryKind::Search, Filter::default()).await;
    }
    store.settle().await;
    let mut times = Vec::new();
    for number in 1..=QUERIES {
        let started = Instant::now();
        recall.ask(&question(number), QueryKind::Search, Filter::default()).await;
        times.push(started.elapsed());
    }
    print_times("asking memory", &mut times);
    println!("  resident after that             {:>8.0} MB", resident_megabytes());

    let mixer = Mixer::new();
    let queries: Vec<Vec<f32>> = (1..=QUERIES).map(|number| mixer.vector(-number)).collect();
    // The most recent conversation contains the last exchange, whose time gives the number of messages.
    let last = store
        .conversations(&ConversationList { scope: None, limit: 1, ..ConversationList::default() })
        .await
        .unwrap();
    let end = last[0].updated.as_millis();
    let newest = |fraction: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "milliseconds fit into an i64")]
        let millis = (end as f64 * (1.0 - fraction)) as i64;
        Filter { since: Some(Timestamp::from_millis(millis)), ..Filter::default() }
    };
    let all_but_one = Filter { excluded_conversation: Some(ConversationId::new(1)), ..Filter::default() };
    for (name, filter) in [
        ("vectors, all", Filter::default()),
        ("vectors, all but 1 conversation", all_but_one),
        ("vectors, newest half", newest(0.5)),
        ("vectors, newest tenth", newest(0.1)),
        ("vectors, newest hundredth", newest(0.01)),
        ("vectors, one conversation", Filter { conversation: Some(last[0].id), ..Filter::default() }),
    ] {
        measure_search(&store, name, &queries, &filter, Accuracy::Exact).await;
    }
    let truth = find_exact(&store, &queries).await;
    let recall_at_10 = async |mode| {
        let mut hits = 0;
        for (query, truth) in queries.iter().zip(&truth) {
            let filter = Filter::default();
            let nearest = store.nearest(&search(query, &filter, mode)).await.unwrap();
            hits += nearest.iter().filter(|message| truth.contains(&message.message_id)).count();
        }
        hits as f64 / (10 * queries.len()) as f64
    };
    println!("  recall@10 of the scan           {:>8.4}", recall_at_10(Accuracy::Exact).await);
    if messages_until(end) > MAX_GRAPH_MESSAGES {
        store.close().await;
        return;
    }
    let started = Instant::now();
    let filter = Filter::default();
    store.nearest(&search(&queries[0], &filter, Accuracy::Approximate)).await.unwrap();
    store.settle().await;
    println!("  building the graph              {:>8.1} s", started.elapsed().as_secs_f64());
    measure_search(&store, "vectors by graph, all", &queries, &filter, Accuracy::Approximate).await;
    measure_search(&store, "vectors by graph, newest half", &queries, &newest(0.5), Accuracy::Approximate)
        .await;
    println!("  recall@10 of the graph          {:>8.4}", recall_at_10(Accuracy::Approximate).await);
    store.close().await;
}

async fn measure_search(
    store: &SqliteStore,
    name: &str,
    queries: &[Vec<f32>],
    filter: &Filter,
    accuracy: Accuracy,
) {
    let mut times = Vec::new();
    for query in queries {
        let started = Instant::now();
        store.nearest(&search(query, filter, accuracy)).await.unwrap();
        times.push(started.elapsed());
    }
    print_times(name, &mut times);
}

/// Returns the ten nearest messages of each query, by comparing every vector.
async fn find_exact(store: &SqliteStore, queries: &[Vec<f32>]) -> Vec<Vec<MessageId>> {
    let mut best: Vec<Vec<(f32, MessageId)>> = vec![Vec::new(); queries.len()];
    let mut start = 1;
    loop {
        let ids: Vec<MessageId> = (start..start + 10_000).map(MessageId::new).collect();
        let parts = store.nearest_parts(NAME, &queries[0], &ids).await.unwrap();
        if parts.is_empty() {
            break;
        }
        start += 10_000;
        for (query, best) in queries.iter().zip(&mut best) {
            for part in &parts {
                assert_eq!(part.vector.len(), DIMENSIONS);
                best.push((query.iter().zip(&part.vector).map(|(a, b)| a * b).sum(), part.message_id));
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

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Returns the resident memory of the process in megabytes.
fn resident_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
