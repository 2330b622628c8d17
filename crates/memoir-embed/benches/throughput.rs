//! Measures the throughput of both models. `scripts/beside_onnxruntime.py` compares it with onnxruntime and parses this
//! output.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints results and panics on errors"
)]

use std::time::{Duration, Instant};

use memoir_embed::{embed_blocking, read_blocking};
use memoir_models::{ReaderQuestion, ReaderText};

fn main() {
    let started = Instant::now();
    embed_blocking(&["load".into()]).unwrap();
    println!("first text, including loading    {:>8.2} ms", millis(started.elapsed()));

    // Distinct texts of about 30 tokens.
    let texts: Vec<String> = (0..256)
        .map(|number| {
            format!(
                "On day {number} we talked about the leaking tap under the sink, the second appointment with the \
                 plumber, and whether the blue tiles would arrive before friday."
            )
        })
        .collect();
    let seconds = best_of(5, || drop(embed_blocking(&texts).unwrap())).as_secs_f64();
    println!("texts of about 30 tokens         {:>8.0} per second", texts.len() as f64 / seconds);

    let query = ["who fixed the kitchen tap?".to_owned()];
    println!(
        "a short query                    {:>8.2} ms",
        millis(best_of(50, || drop(embed_blocking(&query).unwrap())))
    );

    // Ten exchanges of eight sentences, as an answer from memory reads them.
    let question = ReaderQuestion { text: query[0].clone(), earlier: None };
    let exchange = ReaderText {
        title: "The kitchen tap".into(),
        before: "Is the tap still leaking?".into(),
        sentences: texts.iter().take(8).map(|text| format!("user: {text}")).collect(),
    };
    let exchanges = vec![exchange; 10];
    println!(
        "80 sentences read for a question {:>8.2} ms",
        millis(best_of(5, || drop(read_blocking(&question, &exchanges).unwrap())))
    );
}

fn best_of(runs: usize, mut work: impl FnMut()) -> Duration {
    let measure = |work: &mut dyn FnMut()| {
        let started = Instant::now();
        work();
        started.elapsed()
    };
    (0..runs).map(|_| measure(&mut work)).min().unwrap_or_default()
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
