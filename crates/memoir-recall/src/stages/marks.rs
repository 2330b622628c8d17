//! Applies the user's marks: pinned exchanges rank higher, exchanges marked as wrong rank lower.

use std::collections::HashMap;

use async_trait::async_trait;
use memoir_core::{Correction, ExchangeId, ExchangeMark, Mark};

use crate::{Inquiry, Recall, RecallError, Stage};

/// Weight of a mark. It outweighs a few matching words, but not a different topic.
const WEIGHT: f64 = 0.9;

/// Number of top-ranked messages whose marks are applied.
const MAX_MESSAGES: usize = 200;

pub(crate) struct MarksStage;

#[async_trait]
impl Stage for MarksStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let exchanges: Vec<ExchangeId> =
            inquiry.ranked.iter().take(MAX_MESSAGES).map(|message| message.outline.exchange_id).collect();
        let marks = recall.store.exchange_marks(&exchanges).await?;
        let marks: HashMap<ExchangeId, ExchangeMark> =
            marks.into_iter().map(|exchange_mark| (exchange_mark.exchange_id, exchange_mark)).collect();
        if marks.is_empty() {
            return Ok(());
        }
        for message in inquiry.ranked.iter_mut().take(MAX_MESSAGES) {
            match marks.get(&message.outline.exchange_id) {
                Some(ExchangeMark { mark: Mark::Pinned, .. }) => message.score += WEIGHT,
                Some(ExchangeMark { mark: Mark::Wrong, created, .. }) => {
                    message.score -= WEIGHT;
                    message.superseded = Some(Correction { created: *created, exchange_id: None });
                }
                None => {}
            }
        }
        inquiry.ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(())
    }
}
