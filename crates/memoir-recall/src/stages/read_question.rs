//! Taking the question apart: words, names, time.

use async_trait::async_trait;

use crate::{Inquiry, Question, Recall, RecallError, Stage};

pub(crate) struct ReadQuestion;

#[async_trait]
impl Stage for ReadQuestion {
    fn name(&self) -> &'static str {
        "read_question"
    }

    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        // The people whose names count come from memory; without them a question has only words and dates.
        inquiry.question = Question::read(&inquiry.text, &[], recall.clock.now(), &recall.zone);
        if !inquiry.asks_nothing() {
            let people = recall.store.authors().await?;
            inquiry.question = Question::read(&inquiry.text, &people, recall.clock.now(), &recall.zone);
        }
        Ok(())
    }
}
