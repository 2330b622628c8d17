//! Loads all messages of the candidate conversations, because the score of a message depends on its neighbors.

use std::collections::HashMap;

use async_trait::async_trait;

use crate::{Inquiry, Recall, RecallError, Stage, terms::score_words};

pub(crate) struct GatherStage;

#[async_trait]
impl Stage for GatherStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let conversations: Vec<_> = inquiry.conversations.iter().map(|(id, _)| *id).collect();
        // Without candidates, the index need not be loaded.
        if conversations.is_empty() {
            return Ok(());
        }
        let outlines = recall.store.outlines(&conversations).await?;
        let early_exchanges = match inquiry.filter.before {
            Some(before) => {
                let mut exchanges: Vec<_> = outlines.iter().map(|outline| outline.exchange_id).collect();
                // The messages of an exchange are adjacent.
                exchanges.dedup();
                Some(recall.store.committed_before(&exchanges, before).await?.into_iter().collect())
            }
            None => None,
        };
        let mut scores = HashMap::new();
        if let Some(vector) = &inquiry.vector {
            let model = recall.embedder.name();
            let estimates = recall.store.similarities(model, vector, &conversations).await?;
            scores.extend(estimates.iter().map(|message| (message.message_id, message.score)));
        }
        // The search by meaning returned exact scores, which replace the estimates.
        scores.extend(inquiry.nearest.iter().map(|message| (message.message_id, message.score)));
        // Set all fields only after the last fallible call, so that they are always consistent.
        inquiry.similarities =
            outlines.iter().map(|outline| scores.get(&outline.id).copied().unwrap_or(0.0)).collect();
        inquiry.lexical_scores = score_words(&inquiry.word_matches, &outlines);
        inquiry.outlines = outlines;
        inquiry.early_exchanges = early_exchanges;
        inquiry.pair_similarities = estimate_pair_similarities(inquiry);
        Ok(())
    }
}

/// Typical cosine of two consecutive messages, used because their embeddings are not loaded yet.
const TYPICAL_COSINE: f64 = 0.3;

/// Estimates the cosine of the query with the sum of each message's embedding and the previous one's.
fn estimate_pair_similarities(inquiry: &Inquiry) -> Vec<f64> {
    let similarities = &inquiry.similarities;
    (0..similarities.len())
        .map(|position| match inquiry.previous(position) {
            Some(previous) => {
                (similarities[position] + similarities[previous]) / (2.0 + 2.0 * TYPICAL_COSINE).sqrt()
            }
            None => similarities[position],
        })
        .collect()
}
