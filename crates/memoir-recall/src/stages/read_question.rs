//! Parses the question: words, names and dates.

use async_trait::async_trait;

use crate::{Inquiry, ParsedQuestion, Recall, RecallError, Stage, nicknames::find_nicknames};

pub(crate) struct ReadQuestionStage;

#[async_trait]
impl Stage for ReadQuestionStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        // Parse without author names first, so that words and dates are available even if loading the names fails.
        inquiry.question = ParsedQuestion::parse(&inquiry.text, &[], &[], recall.clock.now(), &recall.zone);
        if !inquiry.asks_nothing() {
            let authors = recall.store.authors().await?;
            let nicknames = find_nicknames(inquiry, &authors, recall).await?;
            inquiry.question =
                ParsedQuestion::parse(&inquiry.text, &authors, &nicknames, recall.clock.now(), &recall.zone);
        }
        Ok(())
    }
}
