//! Looking messages up by meaning.

use async_trait::async_trait;
use memoir_core::{ConversationId, Timestamp};
use memoir_store::{Filter, VectorSearch};

use crate::{DateRange, Inquiry, Recall, RecallError, Stage};

/// How many messages are looked up: enough to lead to every conversation that may matter.
const MOST: usize = 100;

/// How many of the time that is asked about.
const MOST_THEN: usize = 50;

/// People tell of a day on that day, or soon after.
const SOON_AFTER: i64 = 3 * 24 * 60 * 60 * 1000;

pub(crate) struct SearchMeaningStage;

#[async_trait]
impl Stage for SearchMeaningStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let Some(vector) = &inquiry.vector else { return Ok(()) };
        let search = recall.search(vector, &inquiry.filter, MOST);
        inquiry.near = recall.store.nearest(&search).await?;
        // What was said at the time that is asked about is looked at in any case: elsewhere there may be much that is
        // nearer.
        if let Some(filter) = inquiry.question.dates.map(|dates| around(dates, &inquiry.filter)) {
            let search = VectorSearch { filter: &filter, limit: MOST_THEN, ..search };
            let then = recall.store.nearest(&search).await?;
            inquiry.near.splice(0..0, then);
        }
        inquiry.conversations = by_nearest(inquiry);
        Ok(())
    }
}

/// The filter, narrowed to a time.
fn around(dates: DateRange, filter: &Filter) -> Filter {
    let end = Timestamp::from_millis(dates.end.as_millis() + SOON_AFTER);
    Filter {
        since: Some(filter.since.map_or(dates.start, |since| since.max(dates.start))),
        until: Some(filter.until.map_or(end, |until| until.min(end))),
        ..filter.clone()
    }
}

/// The conversations of what is near, the nearest first. Words have not been looked at: none matches any.
fn by_nearest(inquiry: &Inquiry) -> Vec<(ConversationId, f64)> {
    let mut conversations = Vec::new();
    for found in &inquiry.near {
        if !conversations.contains(&(found.conversation_id, 0.0)) {
            conversations.push((found.conversation_id, 0.0));
        }
    }
    conversations
}
