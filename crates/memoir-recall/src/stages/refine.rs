//! Rescores the best messages with exact similarities instead of estimates.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use memoir_core::MessageId;

use super::fuse;
use crate::{Inquiry, Recall, RecallError, Stage};

/// Number of top-ranked messages to rescore.
const MAX_MESSAGES: usize = 64;

pub(crate) struct RefineStage;

#[async_trait]
impl Stage for RefineStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let Some(query) = inquiry.vector.clone().filter(|_| !inquiry.ranked.is_empty()) else {
            return Ok(());
        };
        let best: HashSet<MessageId> =
            inquiry.ranked.iter().take(MAX_MESSAGES).map(|message| message.outline.id).collect();
        let positions: Vec<usize> = (0..inquiry.outlines.len())
            .filter(|position| best.contains(&inquiry.outlines[*position].id))
            .collect();
        // Include the previous messages, which are needed for the pair similarities.
        let previous = positions.iter().filter_map(|position| inquiry.previous(*position));
        let ids: HashSet<MessageId> =
            previous.chain(positions.iter().copied()).map(|position| inquiry.outlines[position].id).collect();
        let ids: Vec<MessageId> = ids.into_iter().collect();
        let mut parts = recall.store.nearest_parts(recall.embedder.name(), &query, &ids).await?;
        // Older embeddings may have another length if the model behind the name has changed.
        parts.retain(|part| part.vector.len() == query.len());
        let scores: HashMap<MessageId, f64> =
            parts.iter().map(|part| (part.message_id, part.score)).collect();
        inquiry.parts = parts.iter().map(|part| (part.message_id, part.range.clone())).collect();
        inquiry.vectors = parts.into_iter().map(|part| (part.message_id, part.vector)).collect();
        for position in positions {
            if let Some((alone, pair)) = measure(inquiry, position, &query, &scores) {
                inquiry.similarities[position] = alone;
                inquiry.pair_similarities[position] = pair;
            }
        }
        fuse::rank(inquiry, &recall.settings.terms);
        Ok(())
    }
}

/// Returns the cosine of the query with a message alone and combined with the previous one.
fn measure(
    inquiry: &Inquiry,
    position: usize,
    query: &[f32],
    scores: &HashMap<MessageId, f64>,
) -> Option<(f64, f64)> {
    let vector = |position: usize| inquiry.vectors.get(&inquiry.outlines[position].id);
    let own = vector(position)?;
    let alone = *scores.get(&inquiry.outlines[position].id)?;
    let pair = match inquiry.previous(position).and_then(vector) {
        Some(previous) => {
            // The cosine with the sum of two unit vectors.
            (alone + cosine(query, previous)) / (2.0 + 2.0 * cosine(own, previous)).max(f64::EPSILON).sqrt()
        }
        None => alone,
    };
    Some((alone, pair))
}

/// Returns the cosine of two unit vectors.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    f64::from(a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>())
}
