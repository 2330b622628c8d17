//! Taking the question apart: words, names, time.

use async_trait::async_trait;

use crate::{Inquiry, Question, Recall, RecallError, ScopeRule, Stage};

pub(crate) struct ReadQuestion;

#[async_trait]
impl Stage for ReadQuestion {
    fn name(&self) -> &'static str {
        "read_question"
    }

    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        if recall.settings.scope == ScopeRule::Only && inquiry.filter.scope.is_none() {
            inquiry.filter.scope.clone_from(&inquiry.scope);
        }
        // The people whose names count come from memory; without them a question has only words and dates.
        inquiry.question = Question::read(&inquiry.text, &[], recall.clock.now(), &recall.zone);
        if !inquiry.question.is_idle {
            let people = recall.store.authors().await?;
            inquiry.question = Question::read(&inquiry.text, &people, recall.clock.now(), &recall.zone);
        }
        Ok(())
    }
}
