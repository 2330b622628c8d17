//! What the user said about exchanges: pinned ones come before others, those marked as wrong after them.

use std::collections::HashMap;

use async_trait::async_trait;
use memoir_core::{ExchangeId, Mark, Marked};

use crate::{Inquiry, Recall, RecallError, Stage};

/// What a mark counts: more than a few words that match, less than being about something else.
const WEIGHT: f64 = 0.5;

/// How many messages are looked at for it.
const MOST: usize = 200;

pub(crate) struct MarksStage;

#[async_trait]
impl Stage for MarksStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let found: Vec<ExchangeId> =
            inquiry.ranked.iter().take(MOST).map(|found| found.outline.exchange_id).collect();
        let marks = recall.store.marks_of(&found).await?;
        let marks: HashMap<ExchangeId, Marked> =
            marks.into_iter().map(|marked| (marked.exchange_id, marked)).collect();
        if marks.is_empty() {
            return Ok(());
        }
        for found in inquiry.ranked.iter_mut().take(MOST) {
            match marks.get(&found.outline.exchange_id) {
                Some(Marked { mark: Mark::Pinned, .. }) => found.score += WEIGHT,
                Some(Marked { mark: Mark::Wrong, created, .. }) => {
                    found.score -= WEIGHT;
                    found.superseded = Some(*created);
                }
                None => {}
            }
        }
        inquiry.ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(())
    }
}
