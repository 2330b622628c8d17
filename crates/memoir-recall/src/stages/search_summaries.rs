//! Looking exchanges and conversations up by what their summaries mean.

use async_trait::async_trait;

use crate::{Inquiry, Recall, RecallError, Stage};

/// How many summaries are looked up.
const MOST: usize = 30;

pub(crate) struct SearchSummariesStage;

#[async_trait]
impl Stage for SearchSummariesStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let Some(vector) = &inquiry.vector else { return Ok(()) };
        let search = recall.search(vector, &inquiry.filter, MOST);
        inquiry.summaries = recall.store.nearest_summaries(&search).await?;
        // Where a summary leads is looked at in any case, whatever its messages say.
        for found in inquiry.summaries.iter().rev() {
            inquiry.conversations.retain(|(id, _)| *id != found.conversation_id);
            inquiry.conversations.insert(0, (found.conversation_id, 0.0));
        }
        Ok(())
    }
}
