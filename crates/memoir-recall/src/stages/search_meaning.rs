//! Searches messages by meaning.

use async_trait::async_trait;
use memoir_core::{ConversationId, Timestamp};
use memoir_store::{Filter, VectorSearch};

use crate::{DateRange, Inquiry, Recall, RecallError, Stage};

/// Maximum number of messages, enough to reach every conversation that may be relevant.
const MAX_MESSAGES: usize = 100;

/// Maximum number of messages from the dates in the question.
const MAX_DATED_MESSAGES: usize = 50;

/// Included time after the dates, because people mention a day on that day or soon after.
const GRACE_MILLIS: i64 = 3 * 24 * 60 * 60 * 1000;

pub(crate) struct SearchMeaningStage;

#[async_trait]
impl Stage for SearchMeaningStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let Some(vector) = &inquiry.vector else { return Ok(()) };
        let search = recall.search(vector, &inquiry.filter, MAX_MESSAGES);
        inquiry.nearest = recall.store.nearest(&search).await?;
        // Search the dates in the question separately, in case many messages from other times are nearer.
        if let Some(filter) = inquiry.question.dates.map(|dates| restrict_to(dates, &inquiry.filter)) {
            let search = VectorSearch { filter: &filter, limit: MAX_DATED_MESSAGES, ..search };
            let dated = recall.store.nearest(&search).await?;
            inquiry.nearest.splice(0..0, dated);
        }
        inquiry.conversations = list_conversations(inquiry);
        Ok(())
    }
}

/// Restricts the filter to the dates and the days right after them.
fn restrict_to(dates: DateRange, filter: &Filter) -> Filter {
    let end = Timestamp::from_millis(dates.end.as_millis() + GRACE_MILLIS);
    Filter {
        since: Some(filter.since.map_or(dates.start, |since| since.max(dates.start))),
        until: Some(filter.until.map_or(end, |until| until.min(end))),
        ..filter.clone()
    }
}

/// Returns the conversations of the nearest messages, nearest first, without lexical scores.
fn list_conversations(inquiry: &Inquiry) -> Vec<(ConversationId, f64)> {
    let mut conversations = Vec::new();
    for message in &inquiry.nearest {
        if !conversations.contains(&(message.conversation_id, 0.0)) {
            conversations.push((message.conversation_id, 0.0));
        }
    }
    conversations
}
