//! The retry clock: 1, 2, 4, 8, 16, 32 seconds, then failed; kept in the database, so that a restart goes on with it.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicUsize, Ordering},
};

use async_trait::async_trait;
use memoir_core::{Clock, TimeZone, Timestamp, Usage, Usd};
use memoir_embed::LocalEmbedder;
use memoir_models::{ChatModel, ChatRequest, ChatStream, ModelError};
use memoir_recall::Recall;
use memoir_store::{Exchanges as _, contract, sqlite::SqliteStore};
use memoir_workers::{Office, run_until_idle};
use tempfile::TempDir;

/// Time that goes on when it is told.
struct Hand(AtomicI64);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// A model that always fails, and counts.
struct Failing {
    calls: AtomicUsize,
    error: ModelError,
}

#[async_trait]
impl ChatModel for Failing {
    fn name(&self) -> &str {
        "test/failing"
    }

    async fn stream(&self, _request: ChatRequest) -> Result<ChatStream, ModelError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Err(self.error.clone())
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        None
    }
}

async fn office(directory: &TempDir, clock: &Arc<Hand>, model: &Arc<Failing>) -> Office {
    let store = Arc::new(SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap());
    let clock: Arc<dyn Clock> = Arc::clone(clock) as Arc<dyn Clock>;
    Office {
        recall: Recall::new(store.clone(), Arc::new(LocalEmbedder), Arc::clone(&clock), TimeZone::UTC),
        store,
        summarizer: Some(Arc::clone(model) as Arc<dyn ChatModel>),
        clock,
        zone: TimeZone::UTC,
        current: Arc::default(),
        owner: "test".into(),
        daily_budget: None,
    }
}

/// One exchange.
async fn fixture(error: ModelError) -> (TempDir, Arc<Hand>, Arc<Failing>) {
    let directory = TempDir::new().unwrap();
    let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    let draft = contract::exchange("question", "answer", 1);
    store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    store.close().await;
    let clock = Arc::new(Hand(AtomicI64::new(1_700_000_000_000)));
    (directory, clock, Arc::new(Failing { calls: AtomicUsize::new(0), error }))
}

#[tokio::test]
async fn waits_double_survive_a_restart_and_end() {
    let busy = ModelError::Server { status: 503, message: "busy".into(), retry_after: None };
    let (directory, clock, model) = fixture(busy).await;
    let mut waits = Vec::new();
    for attempt in 0..7 {
        // Every attempt is another process.
        let office = office(&directory, &clock, &model).await;
        let (before, now) = (model.calls.load(Ordering::SeqCst), office.clock.now());
        run_until_idle(&office).await.unwrap();
        // The exchange and its conversation: both are tried once, and not again before they are due.
        assert_eq!(model.calls.load(Ordering::SeqCst) - before, 2, "attempt {attempt}");
        run_until_idle(&office).await.unwrap();
        assert_eq!(model.calls.load(Ordering::SeqCst) - before, 2, "not before it is due");
        if let Some(due) = office.store.next_due(memoir_core::WorkerKind::ExchangeSummarizer).await.unwrap() {
            waits.push(due.millis_since(now) / 1000);
            clock.0.store(due.as_millis(), Ordering::SeqCst);
        }
        let later = office.store.next_due(memoir_core::WorkerKind::ConversationSummarizer).await.unwrap();
        clock.0.fetch_max(later.map_or(0, Timestamp::as_millis), Ordering::SeqCst);
    }
    // With jitter of up to a quarter.
    for (wait, seconds) in waits.iter().zip([1, 2, 4, 8, 16, 32]) {
        assert!((seconds..=seconds * 5 / 4).contains(wait), "{waits:?}");
    }
    assert_eq!(waits.len(), 6);
    let office = office(&directory, &clock, &model).await;
    let failed = office.store.failed_jobs(10).await.unwrap();
    assert_eq!(failed.iter().map(|job| job.attempts).collect::<Vec<_>>(), [7, 7]);
    assert!(failed[0].last_error.as_deref().unwrap().contains("busy"));
    clock.0.fetch_add(1_000_000_000, Ordering::SeqCst);
    run_until_idle(&office).await.unwrap();
    assert_eq!(model.calls.load(Ordering::SeqCst), 14, "nothing is retried for ever");
}

#[tokio::test]
async fn a_wrong_key_fails_at_once() {
    let wrong = ModelError::Authentication { status: 401, message: "no".into() };
    let (directory, clock, model) = fixture(wrong).await;
    let office = office(&directory, &clock, &model).await;
    run_until_idle(&office).await.unwrap();
    assert_eq!(office.store.failed_jobs(10).await.unwrap().len(), 2);
    assert_eq!(model.calls.load(Ordering::SeqCst), 2);
}
