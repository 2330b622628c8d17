//! All messages of the conversations in question, since one is scored with those around it.

use std::collections::HashMap;

use async_trait::async_trait;

use crate::{Inquiry, Recall, RecallError, Stage, terms::best_per_word};

pub(crate) struct GatherStage;

#[async_trait]
impl Stage for GatherStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let conversations: Vec<_> = inquiry.conversations.iter().map(|(id, _)| *id).collect();
        let outlines = recall.store.outlines(&conversations).await?;
        let early_exchanges = match inquiry.filter.before {
            Some(before) => {
                let mut exchanges: Vec<_> = outlines.iter().map(|outline| outline.exchange_id).collect();
                // The messages of an exchange are next to each other.
                exchanges.dedup();
                Some(recall.store.committed_before(&exchanges, before).await?.into_iter().collect())
            }
            None => None,
        };
        let mut near = HashMap::new();
        if let Some(vector) = &inquiry.vector {
            let model = recall.embedder.name();
            let estimates = recall.store.similarities(model, vector, &conversations).await?;
            near.extend(estimates.iter().map(|found| (found.message_id, found.score)));
        }
        // What was found by its meaning is known exactly.
        near.extend(inquiry.near.iter().map(|found| (found.message_id, found.score)));
        // Nothing fails from here on: what belongs together is there together.
        inquiry.similarities =
            outlines.iter().map(|outline| near.get(&outline.id).copied().unwrap_or(0.0)).collect();
        inquiry.lexical = best_per_word(&inquiry.words, &outlines);
        inquiry.outlines = outlines;
        inquiry.early_exchanges = early_exchanges;
        inquiry.similarities_together = together(inquiry);
        Ok(())
    }
}

/// How alike two messages in a row usually are: a cosine. The vectors themselves are not at hand yet.
const USUAL_LIKENESS: f64 = 0.3;

/// How near each message is together with the one before: the cosine with the sum of their vectors, about.
fn together(inquiry: &Inquiry) -> Vec<f64> {
    let near = &inquiry.similarities;
    (0..near.len())
        .map(|position| match inquiry.before(position) {
            Some(before) => (near[position] + near[before]) / (2.0 + 2.0 * USUAL_LIKENESS).sqrt(),
            None => near[position],
        })
        .collect()
}
