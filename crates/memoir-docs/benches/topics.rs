//! How many topics of a window the five related posts are on: by one query, by chunks, with the whole beside them, with variety.
//!
//! `cargo bench -p memoir-docs --bench topics [WINDOWS]`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints, and may panic")]

#[path = "../tests/documents/topics.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod topics;

use memoir_recall::{Dedup, RecallSettings};
use topics::{Remembering, Set, topics_of, with};

/// Numbers that are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

#[tokio::main]
async fn main() {
    let windows = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(24);
    let set = Set::load();
    let folder = tempfile::tempdir().unwrap();
    let recall = set.library(folder.path(), Remembering::real()).await;
    let base = RecallSettings { mmr_lambda: 1.0, ..RecallSettings::default() };
    let ways: Vec<(&str, RecallSettings)> = vec![
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
        "{windows} windows of 500 messages each, {} topics with 2 posts each, five posts found",
        set.topics.len()
    );
    println!("{:<26} {:>12} {:>12} {:>12}", "topic coverage at 5 (%)", "3 even", "3 uneven", "5 even");
    let shapes: [&[usize]; 3] = [&[167, 167, 166], &[350, 100, 50], &[100, 100, 100, 100, 100]];
    for (name, settings) in ways {
        let recall = with(&recall, settings);
        print!("{name:<26}");
        for shape in shapes {
            let mut numbers = Numbers(42);
            let mut covered = 0.0;
            for _ in 0..windows {
                let mut chosen: Vec<usize> = Vec::new();
                while chosen.len() < shape.len() {
                    let topic = numbers.below(set.topics.len());
                    if !chosen.contains(&topic) {
                        chosen.push(topic);
                    }
                }
                let parts: Vec<(usize, usize)> = chosen.iter().copied().zip(shape.iter().copied()).collect();
                let found =
                    recall.related(&set.window(&parts)).await.map(|related| topics_of(&related.documents));
                let found = found.unwrap_or_default();
                covered +=
                    chosen.iter().filter(|topic| found.contains(topic)).count() as f64 / chosen.len() as f64;
            }
            print!(" {:>12.1}", 100.0 * covered / windows as f64);
        }
        println!();
    }
}
