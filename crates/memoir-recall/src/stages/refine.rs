//! The best once more, with their vectors at hand: what was estimated so far is now exact.

use std::collections::HashSet;

use async_trait::async_trait;
use memoir_core::MessageId;

use super::fuse;
use crate::{Inquiry, Recall, RecallError, Stage};

/// How many are looked at again.
const MOST: usize = 100;

pub(crate) struct RefineStage;

#[async_trait]
impl Stage for RefineStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let Some(query) = inquiry.vector.clone().filter(|_| !inquiry.ranked.is_empty()) else {
            return Ok(());
        };
        let best: HashSet<MessageId> =
            inquiry.ranked.iter().take(MOST).map(|ranked| ranked.outline.id).collect();
        let places: Vec<usize> = (0..inquiry.outlines.len())
            .filter(|position| best.contains(&inquiry.outlines[*position].id))
            .collect();
        // Those before them too: a message is seen together with what it answers.
        let before = places.iter().filter_map(|position| inquiry.before(*position));
        let wanted: HashSet<MessageId> =
            before.chain(places.iter().copied()).map(|position| inquiry.outlines[position].id).collect();
        let wanted: Vec<MessageId> = wanted.into_iter().collect();
        let vectors = recall.store.vectors(recall.embedder.name(), &wanted).await?;
        // A model that was changed under its name may have left others.
        inquiry.vectors = vectors.into_iter().filter(|(_, vector)| vector.len() == query.len()).collect();
        for position in places {
            if let Some((alone, together)) = measure(inquiry, position, &query) {
                inquiry.similarities[position] = alone;
                inquiry.similarities_together[position] = together;
            }
        }
        fuse::rank(inquiry, &recall.settings.terms);
        Ok(())
    }
}

/// How near a message is to the query, by itself and together with the one before.
fn measure(inquiry: &Inquiry, position: usize, query: &[f32]) -> Option<(f64, f64)> {
    let vector = |position: usize| inquiry.vectors.get(&inquiry.outlines[position].id);
    let own = vector(position)?;
    let alone = cosine(query, own);
    let together = match inquiry.before(position).and_then(vector) {
        Some(before) => {
            // The cosine with the sum of two vectors of length one.
            (alone + cosine(query, before)) / (2.0 + 2.0 * cosine(own, before)).max(f64::EPSILON).sqrt()
        }
        None => alone,
    };
    Some((alone, together))
}

/// The cosine of two vectors of length one.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    f64::from(a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>())
}
