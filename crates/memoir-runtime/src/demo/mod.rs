//! A throw-away memory with the history of a made-up project: `memoir demo`.

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

/// Three months of talk, made up for this.
const HISTORY: &str = include_str!("../../demo/history.jsonl");

/// The project that it is about.
pub const SCOPE: &str = "lantern";

const DAY: i64 = 24 * 60 * 60 * 1000;
const WEEK: i64 = 7 * DAY;

/// Questions that the history answers.
pub const QUESTIONS: [&str; 3] = [
    "Why did we give up the slow long-range radio mode?",
    "Why did two boards reboot on the day we presented to the council?",
    "Which two colours suit somebody who mixes up red and green?",
];

/// Imports the sample into an empty store, and summarizes and embeds everything in it with `recall`.
///
/// # Errors
///
/// Fails if the store does.
pub async fn fill(store: &Arc<dyn Store>, recall: &Recall) -> Result<(), Failure> {
    let mut talk = read_memoir(HISTORY).map_err(|error| Failure::failed(error.to_string()))?;
    shift(&mut talk.conversations, SystemClock.now());
    for thread in &talk.conversations {
        import_conversation(store.as_ref(), thread, SystemClock.now(), false).await?;
    }
    let context = WorkerContext::new(store.clone(), recall.clone(), None, None);
    run_until_idle(&context, &WorkerKind::ALL, &mut |_, _| {}).await?;
    Ok(())
}

/// The vectors of the sample, made anew.
pub async fn vectors() -> Result<Vec<u8>, Failure> {
    let store = stores::factory().open_in_memory().await?;
    let reading = Arc::new(PreparedEmbedder::nothing());
    let embedder: Arc<dyn Embedder> = Arc::<PreparedEmbedder>::clone(&reading);
    let recall = Recall::new(store.clone(), embedder, Arc::new(SystemClock), TimeZone::system());
    fill(&store, &recall).await?;
    Ok(reading.bytes())
}

/// Moves everything by whole weeks, so that weekdays stay what they are, and the last of it lies in the last week.
fn shift(threads: &mut [ImportedConversation], now: Timestamp) {
    let moments = || threads.iter().flat_map(|thread| thread.messages.iter().map(|message| message.created));
    let Some(last) = moments().max() else { return };
    let weeks = (now.as_millis() - DAY - last.as_millis()).div_euclid(WEEK);
    for message in threads.iter_mut().flat_map(|thread| &mut thread.messages) {
        message.created = Timestamp::from_millis(message.created.as_millis() + weeks * WEEK);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[tokio::test]
    async fn everything_in_the_sample_was_read_beforehand() {
        let store = stores::factory().open_in_memory().await.unwrap();
        let prepared = Arc::new(PreparedEmbedder::sample());
        let embedder: Arc<dyn Embedder> = Arc::<PreparedEmbedder>::clone(&prepared);
        let recall = Recall::new(store.clone(), embedder, Arc::new(SystemClock), TimeZone::UTC);
        fill(&store, &recall).await.unwrap();
        assert!(prepared.bytes().is_empty(), "run cargo xtask demo");
        assert_eq!(recall.waiting().await.unwrap(), 0);
    }

    #[test]
    fn the_history_ends_in_the_last_week_on_the_weekday_it_was_written_for() {
        let talk = read_memoir(HISTORY).unwrap();
        let last = |threads: &[ImportedConversation]| {
            threads
                .iter()
                .flat_map(|thread| &thread.messages)
                .map(|message| message.created.as_millis())
                .max()
                .unwrap()
        };
        let written = last(&talk.conversations);
        for now in [0, 3 * DAY, 400 * WEEK + 5 * DAY + 1234] {
            let now = Timestamp::from_millis(written + now);
            let mut threads = talk.conversations.clone();
            shift(&mut threads, now);
            let shifted = last(&threads);
            assert_eq!((shifted - written) % WEEK, 0);
            let ago = now.as_millis() - shifted;
            assert!((DAY..DAY + WEEK).contains(&ago), "{ago}");
        }
    }
}
