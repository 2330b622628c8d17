//! Prints the precision and recall of redaction on the evaluation set, and the time per megabyte.
//!
//! `EXPLAIN=tune` prints every mistake in one half.

#![expect(clippy::print_stdout, reason = "the figures are the result")]

#[path = "../eval/mod.rs"]
mod eval;

use std::time::Instant;

fn main() {
    let explained = std::env::var("EXPLAIN").unwrap_or_default();
    let halves = eval::measure(|mistake, text, value| {
        if text.half == explained {
            println!("{mistake}: {} | {value}", text.note);
        }
    });
    println!("half   precision   recall   secrets   harmless texts unchanged");
    for (half, figures) in &halves {
        println!(
            "{half:4} {:9.1} % {:6.1} % {:9} {:14} of {}",
            figures.precision(),
            figures.recall(),
            figures.secrets,
            figures.unchanged,
            figures.harmless
        );
    }
    let text =
        "We moved the kettle to the harbor, and the token = parse(input)?; is where it was. ".repeat(12_000);
    let start = Instant::now();
    let found = memoir_redact::find(&text).len();
    println!("{:.0} ms per MB ({found} findings)", start.elapsed().as_secs_f64() * 1e9 / text.len() as f64);
}
