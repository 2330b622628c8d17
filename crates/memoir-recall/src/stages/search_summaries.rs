//! Searches the summaries of exchanges and conversations by meaning.

use async_trait::async_trait;

use crate::{Inquiry, Recall, RecallError, Stage};

/// Maximum number of summaries.
const MAX_SUMMARIES: usize = 30;

pub(crate) struct SearchSummariesStage;

#[async_trait]
impl Stage for SearchSummariesStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let Some(vector) = &inquiry.vector else { return Ok(()) };
        let search = recall.search(vector, &inquiry.filter, MAX_SUMMARIES);
        inquiry.summaries = recall.store.nearest_summaries(&search).await?;
        // Put these conversations first so that they are candidates even if none of their messages matches.
        for summary in inquiry.summaries.iter().rev() {
            inquiry.conversations.retain(|(id, _)| *id != summary.conversation_id);
            inquiry.conversations.insert(0, (summary.conversation_id, 0.0));
        }
        Ok(())
    }
}
