//! Selecting among the chunks found for a window: merging, deduplication and diversification.

use std::{cmp::Ordering, collections::HashMap};

use memoir_core::ChunkId;
use memoir_store::ChunkMatch;

use crate::{Dedup, RecallSettings, stages::refine::cosine};

/// Minimum cosine of two passages that are considered duplicates.
const DUPLICATE_COSINE: f64 = 0.9;

/// Returns each chunk once with its best score, best first.
pub(crate) fn merge(results: Vec<Vec<ChunkMatch>>) -> Vec<ChunkMatch> {
    let mut best: HashMap<ChunkId, ChunkMatch> = HashMap::new();
    for chunk in results.into_iter().flatten() {
        match best.get(&chunk.chunk_id) {
            Some(other) if other.score >= chunk.score => {}
            _ => drop(best.insert(chunk.chunk_id, chunk)),
        }
    }
    let mut best: Vec<ChunkMatch> = best.into_values().collect();
    best.sort_by(compare_scores);
    best
}

/// Orders by descending score. The id makes the order of equal scores deterministic.
fn compare_scores(a: &ChunkMatch, b: &ChunkMatch) -> Ordering {
    b.score.total_cmp(&a.score).then(a.chunk_id.cmp(&b.chunk_id))
}

/// Removes chunks that duplicate a better one. `chunks` must be sorted best first.
pub(crate) fn deduplicate(chunks: Vec<ChunkMatch>, settings: &RecallSettings) -> Vec<ChunkMatch> {
    let mut unique: Vec<ChunkMatch> = Vec::new();
    for chunk in chunks {
        let is_new = match settings.dedup_strategy {
            Dedup::None => true,
            Dedup::Document => {
                let count = unique.iter().filter(|other| other.document_id == chunk.document_id).count();
                count < settings.dedup_max_per_doc
            }
            Dedup::Semantic => {
                unique.iter().all(|other| cosine(&other.vector, &chunk.vector) < DUPLICATE_COSINE)
            }
        };
        if is_new {
            unique.push(chunk);
        }
    }
    unique
}

/// Selects up to `limit` chunks by maximal marginal relevance: repeatedly the one with the highest relevance minus its
/// similarity to the chunks selected so far. With a `lambda` of 1 only relevance counts.
pub(crate) fn select_diverse(mut candidates: Vec<ChunkMatch>, lambda: f64, limit: usize) -> Vec<ChunkMatch> {
    let mut selected: Vec<ChunkMatch> = Vec::new();
    while selected.len() < limit {
        let value = |chunk: &ChunkMatch| {
            let similarity =
                selected.iter().map(|other| cosine(&chunk.vector, &other.vector)).fold(0.0, f64::max);
            lambda * chunk.score - (1.0 - lambda) * similarity
        };
        let best = (0..candidates.len())
            .max_by(|a, b| value(&candidates[*a]).total_cmp(&value(&candidates[*b])).then(b.cmp(a)));
        let Some(best) = best else { break };
        selected.push(candidates.remove(best));
    }
    selected
}

#[cfg(test)]
mod tests {
    use memoir_core::DocumentId;

    use super::*;

    fn chunk(id: i64, document: i64, score: f64, vector: [f32; 2]) -> ChunkMatch {
        ChunkMatch {
            chunk_id: ChunkId::new(id),
            document_id: DocumentId::new(document),
            part: 0..1,
            vector: vector.to_vec(),
            score,
        }
    }

    fn ids(chunks: &[ChunkMatch]) -> Vec<i64> {
        chunks.iter().map(|chunk| chunk.chunk_id.get()).collect()
    }

    #[test]
    fn duplicates_are_removed_according_to_the_strategy() {
        let all = vec![
            chunk(1, 123, 0.90, [1.0, 0.0]),
            chunk(3, 456, 0.88, [0.0, 1.0]),
            chunk(2, 123, 0.85, [1.0, 0.0]),
            chunk(4, 456, 0.82, [0.6, 0.8]),
        ];
        let unique = |strategy, limit| {
            let settings = RecallSettings {
                dedup_strategy: strategy,
                dedup_max_per_doc: limit,
                ..RecallSettings::default()
            };
            ids(&deduplicate(all.clone(), &settings))
        };
        assert_eq!(unique(Dedup::Document, 1), [1, 3]);
        assert_eq!(unique(Dedup::Document, 2), [1, 3, 2, 4]);
        assert_eq!(unique(Dedup::Semantic, 1), [1, 3, 4], "chunk 2 has the same vector as chunk 1");
        assert_eq!(unique(Dedup::None, 1), [1, 3, 2, 4]);
    }

    #[test]
    fn a_lower_lambda_prefers_diverse_chunks() {
        let all =
            vec![chunk(1, 1, 0.9, [1.0, 0.0]), chunk(2, 2, 0.85, [1.0, 0.0]), chunk(3, 3, 0.6, [0.0, 1.0])];
        assert_eq!(ids(&select_diverse(all.clone(), 1.0, 2)), [1, 2]);
        assert_eq!(ids(&select_diverse(all, 0.5, 2)), [1, 3]);
    }

    #[test]
    fn merging_keeps_the_best_score_of_each_chunk() {
        let merged = merge(vec![
            vec![chunk(1, 1, 0.5, [1.0, 0.0]), chunk(2, 2, 0.4, [1.0, 0.0])],
            vec![chunk(2, 2, 0.8, [1.0, 0.0])],
        ]);
        assert_eq!(ids(&merged), [2, 1]);
        assert_eq!(merged[0].score, 0.8);
    }
}
