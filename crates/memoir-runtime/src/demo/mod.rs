//! `memoir demo`: a temporary memory with the history of a fictional project.

mod prepared;

use std::sync::Arc;

use memoir_core::{Clock as _, SystemClock, TimeZone, Timestamp, WorkerKind};
use memoir_import::{ImportedConversation, import_conversation, read_memoir};
use memoir_models::Embedder;
use memoir_recall::Recall;
use memoir_store::Store;
use memoir_workers::{WorkerContext, run_until_idle};

use crate::{failure::Failure, stores};

pub use prepared::PreparedEmbedder;

/// Three months of fictional conversations.
const HISTORY: &str = include_str!("../../demo/history.jsonl");

/// Scope of the sample conversations.
pub const SCOPE: &str = "lantern";

const DAY: i64 = 24 * 60 * 60 * 1000;
const WEEK: i64 = 7 * DAY;

/// Suggested questions, which are answered well.
pub const QUESTIONS: [&str; 3] = [
    "Why did we leave Postgres?",
    "When does Ines get a warning text?",
    "Which two colours suit somebody who mixes up red and green?",
];

/// Imports the sample history into an empty store, then summarizes and embeds it.
pub async fn fill(store: &Arc<dyn Store>, recall: &Recall) -> Result<(), Failure> {
    let mut history = read_memoir(HISTORY).map_err(|error| Failure::failed(error.to_string()))?;
    shift_dates(&mut history.conversations, SystemClock.now());
    for conversation in &history.conversations {
        import_conversation(store.as_ref(), conversation, SystemClock.now(), false).await?;
    }
    let context = WorkerContext::new(store.clone(), recall.clone(), None, None);
    run_until_idle(&context, &WorkerKind::ALL, &mut |_, _| {}).await?;
    Ok(())
}

/// Computes the embeddings of the sample history, in the format of `demo/vectors.bin`.
pub async fn compute_embeddings() -> Result<Vec<u8>, Failure> {
    let store = stores::factory().open_in_memory().await?;
    let prepared = Arc::new(PreparedEmbedder::empty());
    let embedder: Arc<dyn Embedder> = Arc::<PreparedEmbedder>::clone(&prepared);
    let recall = Recall::new(store.clone(), embedder, Arc::new(SystemClock), TimeZone::system());
    fill(&store, &recall).await?;
    Ok(prepared.new_bytes())
}

/// Moves all messages by whole weeks, which preserves weekdays, so that the last one falls into the past week.
fn shift_dates(conversations: &mut [ImportedConversation], now: Timestamp) {
    let messages = conversations.iter().flat_map(|conversation| &conversation.messages);
    let Some(last) = messages.map(|message| message.created).max() else { return };
    let weeks = (now.as_millis() - DAY - last.as_millis()).div_euclid(WEEK);
    for message in conversations.iter_mut().flat_map(|conversation| &mut conversation.messages) {
        message.created = Timestamp::from_millis(message.created.as_millis() + weeks * WEEK);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[tokio::test]
    async fn all_embeddings_of_the_sample_are_prepared() {
        let store = stores::factory().open_in_memory().await.unwrap();
        let prepared = Arc::new(PreparedEmbedder::sample());
        let embedder: Arc<dyn Embedder> = Arc::<PreparedEmbedder>::clone(&prepared);
        let recall = Recall::new(store.clone(), embedder, Arc::new(SystemClock), TimeZone::UTC);
        fill(&store, &recall).await.unwrap();
        assert!(prepared.new_bytes().is_empty(), "run `cargo xtask demo`");
        assert_eq!(recall.count_unembedded_messages().await.unwrap(), 0);
    }

    #[test]
    fn shifting_keeps_weekdays_and_ends_in_the_past_week() {
        let history = read_memoir(HISTORY).unwrap();
        let last = |conversations: &[ImportedConversation]| {
            conversations
                .iter()
                .flat_map(|conversation| &conversation.messages)
                .map(|message| message.created.as_millis())
                .max()
                .unwrap()
        };
        let original = last(&history.conversations);
        for offset in [0, 3 * DAY, 400 * WEEK + 5 * DAY + 1234] {
            let now = Timestamp::from_millis(original + offset);
            let mut conversations = history.conversations.clone();
            shift_dates(&mut conversations, now);
            let shifted = last(&conversations);
            assert_eq!((shifted - original) % WEEK, 0);
            let ago = now.as_millis() - shifted;
            assert!((DAY..DAY + WEEK).contains(&ago), "{ago}");
        }
    }
}
