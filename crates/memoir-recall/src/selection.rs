//! Choosing among the chunks that were found for a window: merging, deduplication, and variety.

use std::{cmp::Ordering, collections::HashMap};

use memoir_core::ChunkId;
use memoir_store::ChunkMatch;

use crate::{Dedup, RecallSettings, stages::refine::cosine};

/// Two passages that are so near to each other say the same.
const SAME: f64 = 0.9;

/// Each chunk once, with the best of its scores.
pub(crate) fn merge(found: Vec<Vec<ChunkMatch>>) -> Vec<ChunkMatch> {
    let mut best: HashMap<ChunkId, ChunkMatch> = HashMap::new();
    for found in found.into_iter().flatten() {
        match best.get(&found.chunk_id) {
            Some(known) if known.score >= found.score => {}
            _ => drop(best.insert(found.chunk_id, found)),
        }
    }
    let mut best: Vec<ChunkMatch> = best.into_values().collect();
    best.sort_by(by_score);
    best
}

/// Best first. The id only makes the order of equals definite.
fn by_score(a: &ChunkMatch, b: &ChunkMatch) -> Ordering {
    b.score.total_cmp(&a.score).then(a.chunk_id.cmp(&b.chunk_id))
}

/// Without what says again what something better says. `found` stands in order.
pub(crate) fn deduplicate(found: Vec<ChunkMatch>, settings: &RecallSettings) -> Vec<ChunkMatch> {
    let mut kept: Vec<ChunkMatch> = Vec::new();
    for found in found {
        let is_new = match settings.dedup_strategy {
            Dedup::None => true,
            Dedup::Document => {
                let same = kept.iter().filter(|known| known.document_id == found.document_id).count();
                same < settings.dedup_max_per_doc
            }
            Dedup::Semantic => kept.iter().all(|known| cosine(&known.vector, &found.vector) < SAME),
        };
        if is_new {
            kept.push(found);
        }
    }
    kept
}

/// The next is always the one whose relevance, less its likeness to what was taken before, is highest. A `lambda` of 1 is relevance
/// alone.
pub(crate) fn most_marginally_relevant(
    mut left: Vec<ChunkMatch>,
    lambda: f64,
    most: usize,
) -> Vec<ChunkMatch> {
    let mut taken: Vec<ChunkMatch> = Vec::new();
    while taken.len() < most {
        let worth = |found: &ChunkMatch| {
            let like = taken.iter().map(|other| cosine(&found.vector, &other.vector)).fold(0.0, f64::max);
            lambda * found.score - (1.0 - lambda) * like
        };
        let best =
            (0..left.len()).max_by(|a, b| worth(&left[*a]).total_cmp(&worth(&left[*b])).then(b.cmp(a)));
        let Some(best) = best else { break };
        taken.push(left.remove(best));
    }
    taken
}

#[cfg(test)]
mod tests {
    use memoir_core::DocumentId;

    use super::*;

    fn found(chunk: i64, document: i64, score: f64, vector: [f32; 2]) -> ChunkMatch {
        ChunkMatch {
            chunk_id: ChunkId::new(chunk),
            document_id: DocumentId::new(document),
            part: 0..1,
            vector: vector.to_vec(),
            score,
        }
    }

    fn chunks(found: &[ChunkMatch]) -> Vec<i64> {
        found.iter().map(|found| found.chunk_id.get()).collect()
    }

    #[test]
    fn of_a_document_the_best_chunks_are_kept() {
        let all = vec![
            found(1, 123, 0.90, [1.0, 0.0]),
            found(3, 456, 0.88, [0.0, 1.0]),
            found(2, 123, 0.85, [1.0, 0.0]),
            found(4, 456, 0.82, [0.6, 0.8]),
        ];
        let kept = |strategy, most| {
            let settings = RecallSettings {
                dedup_strategy: strategy,
                dedup_max_per_doc: most,
                ..RecallSettings::default()
            };
            chunks(&deduplicate(all.clone(), &settings))
        };
        assert_eq!(kept(Dedup::Document, 1), [1, 3]);
        assert_eq!(kept(Dedup::Document, 2), [1, 3, 2, 4]);
        assert_eq!(kept(Dedup::Semantic, 1), [1, 3, 4], "the second says what the first says");
        assert_eq!(kept(Dedup::None, 1), [1, 3, 2, 4]);
    }

    #[test]
    fn variety_takes_the_place_of_more_of_the_same() {
        let all =
            vec![found(1, 1, 0.9, [1.0, 0.0]), found(2, 2, 0.85, [1.0, 0.0]), found(3, 3, 0.6, [0.0, 1.0])];
        assert_eq!(chunks(&most_marginally_relevant(all.clone(), 1.0, 2)), [1, 2]);
        assert_eq!(chunks(&most_marginally_relevant(all, 0.5, 2)), [1, 3]);
    }

    #[test]
    fn a_chunk_that_several_queries_find_counts_once_with_its_best() {
        let merged = merge(vec![
            vec![found(1, 1, 0.5, [1.0, 0.0]), found(2, 2, 0.4, [1.0, 0.0])],
            vec![found(2, 2, 0.8, [1.0, 0.0])],
        ]);
        assert_eq!(chunks(&merged), [2, 1]);
        assert_eq!(merged[0].score, 0.8);
    }
}
