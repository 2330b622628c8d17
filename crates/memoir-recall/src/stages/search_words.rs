//! Searches messages by the question's words.

use async_trait::async_trait;
use memoir_store::WordSearch;

use crate::{Inquiry, Recall, RecallError, Stage};

/// Maximum number of candidate conversations found by keyword.
const BY_WORDS: usize = 64;
/// Maximum number of candidate conversations found by meaning.
const BY_MEANING: usize = 64;

pub(crate) struct SearchWordsStage;

#[async_trait]
impl Stage for SearchWordsStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        if inquiry.asks_nothing() {
            return Ok(());
        }
        let by_meaning: Vec<_> = inquiry.conversations.iter().take(BY_MEANING).map(|(id, _)| *id).collect();
        let search = WordSearch {
            words: &inquiry.question.words,
            filter: &inquiry.filter,
            conversations: BY_WORDS,
            extra_conversations: &by_meaning,
        };
        let matches = recall.store.search_words(&search).await?;
        inquiry.conversations = matches.conversations;
        inquiry.word_matches = matches.words;
        Ok(())
    }
}
