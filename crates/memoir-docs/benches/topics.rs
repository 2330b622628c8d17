//! Measures how many topics of a message window the five related posts cover, for each way of searching: one query, a
//! query per chunk, both (hybrid), and with maximal marginal relevance (MMR).
//!
//! `cargo bench -p memoir-docs --bench topics [WINDOWS]`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "benchmarks print, and panic on errors")]

#[path = "../tests/documents/topics.rs"]
#[allow(dead_code, reason = "some items are used only by tests")]
mod topics;

use memoir_recall::{Dedup, RecallSettings};
use topics::{CachingEmbedder, TopicSet, topics_of, with_settings};

/// Pseudorandom numbers with a fixed seed, so that every run uses the same windows.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

#[tokio::main]
async fn main() {
    let window_count = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(24);
    let set = TopicSet::load();
    let directory = tempfile::tempdir().unwrap();
    let recall = set.library(directory.path(), CachingEmbedder::local()).await;
    let base = RecallSettings { mmr_lambda: 1.0, ..RecallSettings::default() };
    let variants: Vec<(&str, RecallSettings)> = vec![
        ("single", RecallSettings { chunk_from_messages: 1_000_000, ..base.clone() }),
        ("chunked", RecallSettings { hybrid: false, ..base.clone() }),
        ("hybrid", base.clone()),
        ("hybrid, MMR 0.7", RecallSettings { mmr_lambda: 0.7, ..base.clone() }),
        ("hybrid, MMR 0.5", RecallSettings { mmr_lambda: 0.5, ..base.clone() }),
        ("hybrid, MMR 0.3", RecallSettings { mmr_lambda: 0.3, ..base.clone() }),
        ("hybrid, semantic", RecallSettings { dedup_strategy: Dedup::Semantic, ..base.clone() }),
        ("chunked, MMR 0.7", RecallSettings { hybrid: false, mmr_lambda: 0.7, ..base.clone() }),
    ];
    println!(
        "{window_count} windows of 500 messages each, {} topics with 2 posts each, 5 posts returned",
        set.topics.len()
    );
    println!("{:<26} {:>12} {:>12} {:>12}", "topic coverage at 5 (%)", "3 even", "3 uneven", "5 even");
    let shapes: [&[usize]; 3] = [&[167, 167, 166], &[350, 100, 50], &[100, 100, 100, 100, 100]];
    for (name, settings) in variants {
        let recall = with_settings(&recall, settings);
        print!("{name:<26}");
        for shape in shapes {
            let mut numbers = RandomNumbers(42);
            let mut covered = 0.0;
            for _ in 0..window_count {
                let mut topics: Vec<usize> = Vec::new();
                while topics.len() < shape.len() {
                    let topic = numbers.below(set.topics.len());
                    if !topics.contains(&topic) {
                        topics.push(topic);
                    }
                }
                let parts: Vec<(usize, usize)> = topics.iter().copied().zip(shape.iter().copied()).collect();
                let related = recall
                    .find_related_documents(&set.window(&parts))
                    .await
                    .map(|related| topics_of(&related.documents));
                let related = related.unwrap_or_default();
                covered += topics.iter().filter(|topic| related.contains(topic)).count() as f64
                    / topics.len() as f64;
            }
            print!(" {:>12.1}", 100.0 * covered / window_count as f64);
        }
        println!();
    }
}
