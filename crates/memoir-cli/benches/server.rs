//! Measures `memoir serve` with 100,000 messages in memory, next to a server that does nothing: times of requests with one
//! and with sixteen clients, what the proxy adds before the first token, and the resident memory with many streams and
//! after many requests. For other sizes, set `MEMOIR_BENCH_MESSAGES=1000`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its results and panics if it cannot run"
)]

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use axum::{Router, routing::get};
use memoir_embed::{DIMENSIONS, NAME};
use memoir_store_sqlite::fill::{fill_file, word_of_rank};
use memoir_testkit::{HttpServer, Reply, ScriptedProvider, TestHome};
use reqwest::{Client, RequestBuilder};
use serde_json::json;

const MESSAGES: &str = "100000";

/// Clients that send a request as soon as the last one is answered.
const CLIENTS: [usize; 2] = [1, 16];

/// Longest time for one row of the table.
const TIME: Duration = Duration::from_secs(10);

/// Time until nothing is done in the background any more.
const WARM_UP: Duration = Duration::from_secs(20);

/// Open streams of events.
const STREAMS: usize = 1000;

/// Requests after which the memory of the server is compared.
const REQUESTS: usize = 200_000;

/// What a row of the table is called, and its request with a number.
type Row<'a> = (&'static str, Box<dyn Fn(usize) -> RequestBuilder + 'a>);

/// Argument that makes this program the server that does nothing.
const BARE: &str = "--bare-server";

fn main() {
    let has = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if has(BARE) {
        return runtime.block_on(serve_nothing());
    }
    // `cargo test --benches` only checks that this builds.
    if has("--test") {
        return;
    }
    let messages = std::env::var("MEMOIR_BENCH_MESSAGES").unwrap_or_else(|_| MESSAGES.into());
    let home = TestHome::new(env!("CARGO_BIN_EXE_memoir"));
    runtime.block_on(fill_file(&home.database(), messages.parse().unwrap(), NAME, DIMENSIONS)).unwrap();
    let provider = ScriptedProvider::always(Reply::text("It is green."));
    let server = HttpServer::run(
        &home,
        home.memoir(["serve", "--listen", "127.0.0.1:0", "--max-requests", "4096"]).provider(&provider),
    );
    let mut bare =
        Command::new(std::env::current_exe().unwrap()).arg(BARE).stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(bare.stdout.take().unwrap()).read_line(&mut address).unwrap();

    println!("resident: {}", resident(server.pid()));
    let client = HttpServer::client_builder().pool_max_idle_per_host(64).build().unwrap();
    let api = |path: &str| server.url(&format!("/api/v1{path}"));
    let rows: [Row<'_>; 5] = [
        ("a server that does nothing", Box::new(|_| client.get(format!("http://{}", address.trim())))),
        ("GET /healthz", Box::new(|_| client.get(server.url("/healthz")))),
        ("GET /api/v1/health", Box::new(|_| client.get(api("/health")).bearer_auth(&server.token))),
        (
            "POST /api/v1/search",
            Box::new(|number| {
                let request = client.post(api("/search")).bearer_auth(&server.token);
                request.json(&json!({"query": question(number)}))
            }),
        ),
        (
            "POST /api/v1/recall",
            Box::new(|number| {
                let request = client.post(api("/recall")).bearer_auth(&server.token);
                request.json(&json!({"question": question(number)}))
            }),
        ),
    ];
    // The first requests load the index, and what they find is packed in the background.
    runtime.block_on(measure(1, WARM_UP, usize::MAX, &rows[3].1));
    println!("{messages} messages                       clients   requests/s     median  99th percentile");
    for (label, request) in &rows {
        for clients in CLIENTS {
            let (times, rate) = runtime.block_on(measure(clients, TIME, usize::MAX, request));
            report(label, clients, rate, times);
        }
    }
    measure_proxy(&runtime, &client, &server, &provider);
    measure_streams(&runtime, &client, &server);
    runtime.block_on(measure(16, Duration::from_secs(600), REQUESTS, &rows[2].1));
    println!("resident: {} after {REQUESTS} further requests", resident(server.pid()));
    bare.kill().unwrap();
    bare.wait().unwrap();
}

/// Serves an empty answer.
async fn serve_nothing() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    axum::serve(listener, Router::new().route("/", get(async || "ok\n"))).await.unwrap();
}

/// Sends requests for a while, or a number of them. Returns the time of each, and their number in a second.
async fn measure(
    clients: usize,
    time: Duration,
    limit: usize,
    request: impl Fn(usize) -> RequestBuilder,
) -> (Vec<f64>, f64) {
    // The first request may load something.
    request(0).send().await.unwrap().bytes().await.unwrap();
    let started = Instant::now();
    let work = (0..clients).map(async |client| {
        let mut times = Vec::new();
        while started.elapsed() < time && times.len() < limit / clients {
            let begun = Instant::now();
            let response = request(times.len() * clients + client).send().await.unwrap();
            assert!(response.status().is_success(), "{response:?}");
            response.bytes().await.unwrap();
            times.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
        times
    });
    let times = futures::future::join_all(work).await.concat();
    let rate = times.len() as f64 / started.elapsed().as_secs_f64();
    (times, rate)
}

/// Measures the time to the first token with and without the proxy.
fn measure_proxy(
    runtime: &tokio::runtime::Runtime,
    client: &Client,
    server: &HttpServer,
    provider: &ScriptedProvider,
) {
    for (label, address, key, recall) in [
        ("first token, provider", format!("{}/chat/completions", provider.base_url()), "sk-test", "on"),
        ("first token, no recall", server.url("/v1/chat/completions"), server.token.as_str(), "off"),
        ("first token, proxy", server.url("/v1/chat/completions"), server.token.as_str(), "on"),
    ] {
        let mut times = Vec::new();
        for number in 0..60 {
            let body = json!({
                "model": "openai-compatible/m", "stream": true,
                "messages": [{"role": "user", "content": question(number)}],
            });
            let request = client.post(&address).bearer_auth(key).header("memoir-recall", recall).json(&body);
            let begun = Instant::now();
            runtime.block_on(async {
                let mut response = request.send().await.unwrap();
                assert!(response.status().is_success(), "{response:?}");
                let mut received = Vec::new();
                while !String::from_utf8_lossy(&received).contains("green") {
                    received.extend_from_slice(&response.chunk().await.unwrap().unwrap());
                }
                times.push(begun.elapsed().as_secs_f64() * 1000.0);
                response.bytes().await.unwrap();
            });
        }
        report(label, 1, 0.0, times);
    }
}

/// Opens streams of events and measures what they cost.
fn measure_streams(runtime: &tokio::runtime::Runtime, client: &Client, server: &HttpServer) {
    println!("resident: {} after recalls", resident(server.pid()));
    let streams: Vec<reqwest::Response> = runtime.block_on(async {
        let mut streams = Vec::new();
        for _ in 0..STREAMS {
            let request = client.get(server.url("/api/v1/events")).bearer_auth(&server.token);
            streams.push(request.send().await.unwrap().error_for_status().unwrap());
        }
        streams
    });
    println!("resident: {} with {} idle streams", resident(server.pid()), streams.len());
}

/// Returns a question with words that are neither stop words nor rare.
fn question(number: usize) -> String {
    let ranks = [150, 600, 3000].map(|rank| word_of_rank(rank + number as u64 % 60 * 13));
    format!("What did I say about {} and the {} {}?", ranks[0], ranks[1], ranks[2])
}

/// Describes the memory that a process uses: all of it, and what is not a part of a file.
fn resident(process: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let megabytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
        let kilobytes = line.split_whitespace().next().and_then(|number| number.parse::<f64>().ok());
        kilobytes.unwrap_or(0.0) / 1024.0
    };
    format!("{:.1} MB, {:.1} MB of it allocated", megabytes("VmRSS:"), megabytes("RssAnon:"))
}

fn report(label: &str, clients: usize, rate: f64, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let (median, high) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("{label:<36} {clients:>7} {rate:>12.0} {median:>7.2} ms {high:>13.2} ms");
}
