//! Looking messages up by the question's words.

use async_trait::async_trait;
use memoir_store::WordSearch;

use crate::{Inquiry, Recall, RecallError, Stage};

/// How many conversations are looked at closely for their words, and how many for what is near in meaning.
const BY_WORDS: usize = 64;
const BY_MEANING: usize = 64;

pub(crate) struct SearchWordsStage;

#[async_trait]
impl Stage for SearchWordsStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        if inquiry.asks_nothing() {
            return Ok(());
        }
        let also: Vec<_> = inquiry.conversations.iter().take(BY_MEANING).map(|(id, _)| *id).collect();
        let search = WordSearch {
            words: &inquiry.question.words,
            filter: &inquiry.filter,
            conversations: BY_WORDS,
            also: &also,
        };
        let found = recall.store.search_words(&search).await?;
        inquiry.conversations = found.conversations;
        inquiry.words = found.words;
        Ok(())
    }
}
