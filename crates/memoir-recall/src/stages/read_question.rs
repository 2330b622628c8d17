//! Taking the question apart: words, names, time.

use async_trait::async_trait;

use crate::{Inquiry, ParsedQuestion, Recall, RecallError, Stage};

pub(crate) struct ReadQuestionStage;

#[async_trait]
impl Stage for ReadQuestionStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        // The people whose names count come from memory; without them a question has only words and dates.
        inquiry.question = ParsedQuestion::parse(&inquiry.text, &[], recall.clock.now(), &recall.zone);
        if !inquiry.asks_nothing() {
            let people = recall.store.authors().await?;
            inquiry.question =
                ParsedQuestion::parse(&inquiry.text, &people, recall.clock.now(), &recall.zone);
        }
        Ok(())
    }
}
