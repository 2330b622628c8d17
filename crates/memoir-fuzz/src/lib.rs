//! Fuzz targets for every parser.
//!
//! A target is a function that passes arbitrary bytes to one parser and panics if an invariant is violated.
//! Each has its own module, and [`ALL`] lists them. `tests/bounded.rs` runs them with proptest on random
//! input and on mutated seeds; the package `fuzz/` at the root runs them with cargo-fuzz.

mod approvals;
mod chunker;
mod cron;
mod front_matter;
mod history;
mod importers;
mod input;
mod search_words;
mod server;
mod stream_anthropic;
mod stream_gemini;
mod stream_ollama;
mod stream_openai;
mod stream_responses;
mod stream_xai;
mod time_expressions;

pub use approvals::approvals;
pub use chunker::chunker;
pub use cron::cron;
pub use front_matter::front_matter;
pub use history::history;
pub use importers::importers;
pub use search_words::search_words;
pub use stream_anthropic::stream_anthropic;
pub use stream_gemini::stream_gemini;
pub use stream_ollama::stream_ollama;
pub use stream_openai::stream_openai;
pub use stream_responses::stream_responses;
pub use stream_xai::stream_xai;
pub use time_expressions::time_expressions;

/// A function that panics if an invariant is violated for the given input.
pub type Target = fn(&[u8]);

/// All targets by name. Their seeds are in `seeds/NAME`.
pub const ALL: &[(&str, Target)] = &[
    ("approvals", approvals),
    ("chunker", chunker),
    ("cron", cron),
    ("front_matter", front_matter),
    ("history", history),
    ("importers", importers),
    ("search_words", search_words),
    ("stream_anthropic", stream_anthropic),
    ("stream_gemini", stream_gemini),
    ("stream_ollama", stream_ollama),
    ("stream_openai", stream_openai),
    ("stream_responses", stream_responses),
    ("stream_xai", stream_xai),
    ("time_expressions", time_expressions),
];
