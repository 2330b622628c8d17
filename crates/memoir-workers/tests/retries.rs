//! Failed jobs are retried after 1, 2, 4, 8, 16 and 32 seconds. The schedule is stored, so it survives a restart.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::Arc;

use memoir_core::{Clock, TimeZone, Timestamp, WorkerKind};
use memoir_embed::LocalEmbedder;
use memoir_models::{ChatModel, ModelError};
use memoir_recall::Recall;
use memoir_store::{Exchanges as _, contract};
use memoir_store_sqlite::SqliteStore;
use memoir_testkit::fakes::{FakeModel, ManualClock};
use memoir_workers::{WorkerContext, WorkerReport, WorkerStopReason, run_until_idle};
use tempfile::TempDir;

async fn context(directory: &TempDir, clock: &Arc<ManualClock>, model: &Arc<FakeModel>) -> WorkerContext {
    let store = Arc::new(SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap());
    let clock: Arc<dyn Clock> = Arc::clone(clock) as Arc<dyn Clock>;
    let recall = Recall::new(store.clone(), Arc::new(LocalEmbedder), clock, TimeZone::UTC);
    WorkerContext::new(store, recall, Some(Arc::clone(model) as Arc<dyn ChatModel>), None).with_owner("test")
}

async fn work(context: &WorkerContext) -> Vec<WorkerReport> {
    run_until_idle(context, &WorkerKind::ALL, &mut |_, _| {}).await.unwrap()
}

/// Creates a store with one exchange, a clock, and a model that always fails.
async fn fixture(error: ModelError) -> (TempDir, Arc<ManualClock>, Arc<FakeModel>) {
    let directory = TempDir::new().unwrap();
    let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    let draft = contract::exchange("question", "answer", 1);
    store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    store.close().await;
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    (directory, clock, Arc::new(FakeModel::failing(error)))
}

#[tokio::test]
async fn retry_delays_double_survive_a_restart_and_end() {
    let busy = ModelError::Server { status: 503, message: "busy".into(), retry_after: None };
    let (directory, clock, model) = fixture(busy).await;
    let mut waits = Vec::new();
    for attempt in 0..7 {
        // Simulate a restart for every attempt.
        let context = context(&directory, &clock, &model).await;
        let (before, now) = (model.calls(), context.clock.now());
        work(&context).await;
        // The exchange and its conversation are each attempted once.
        assert_eq!(model.calls() - before, 2, "attempt {attempt}");
        work(&context).await;
        assert_eq!(model.calls() - before, 2, "no retry before it is due");
        if let Some(due) =
            context.store.next_due(WorkerKind::ExchangeSummarizer, context.clock.now()).await.unwrap()
        {
            waits.push(due.millis_since(now) / 1000);
            clock.set(due.as_millis());
        }
        let conversation_due = context.store.next_due(WorkerKind::ConversationSummarizer, now).await.unwrap();
        clock.set(clock.now().as_millis().max(conversation_due.map_or(0, Timestamp::as_millis)));
    }
    // Jitter adds up to a quarter.
    for (wait, seconds) in waits.iter().zip([1, 2, 4, 8, 16, 32]) {
        assert!((seconds..=seconds * 5 / 4).contains(wait), "{waits:?}");
    }
    assert_eq!(waits.len(), 6);
    let context = context(&directory, &clock, &model).await;
    let failed_jobs = context.store.failed_jobs(10).await.unwrap();
    assert_eq!(failed_jobs.iter().map(|job| job.attempts).collect::<Vec<_>>(), [7, 7]);
    assert!(failed_jobs[0].last_error.as_deref().unwrap().contains("busy"));
    clock.advance(1_000_000_000);
    work(&context).await;
    assert_eq!(model.calls(), 14, "retries end");
}

#[tokio::test]
async fn an_invalid_key_is_not_retried() {
    let wrong = ModelError::Authentication { status: 401, message: "no".into() };
    let (directory, clock, model) = fixture(wrong).await;
    let context = context(&directory, &clock, &model).await;
    work(&context).await;
    assert_eq!(context.store.failed_jobs(10).await.unwrap().len(), 2);
    assert_eq!(model.calls(), 2);
}

#[tokio::test]
async fn an_unreachable_server_is_not_called_for_every_job() {
    let down = ModelError::Unreachable { url: "http://x".into(), reason: "refused".into() };
    let (directory, clock, model) = fixture(down).await;
    let context = context(&directory, &clock, &model).await;
    for number in 0..50 {
        let draft = contract::exchange("question", "answer", number);
        context.store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    }
    let reports = work(&context).await;
    assert_eq!(model.calls(), 10, "five per summarizer; the rest is left for later");
    assert_eq!(reports[0].stopped, Some(WorkerStopReason::Failing));
    assert!(reports[0].last_error.as_deref().unwrap().contains("refused"));
    assert_eq!(reports[2].stopped, None, "the local embedder does not need the server");
}

#[tokio::test]
async fn the_retry_after_header_is_respected() {
    let wait = Some(std::time::Duration::from_secs(90));
    let busy = ModelError::RateLimited { retry_after: wait, message: "slow down".into() };
    let (directory, clock, model) = fixture(busy).await;
    let context = context(&directory, &clock, &model).await;
    work(&context).await;
    let due =
        context.store.next_due(WorkerKind::ExchangeSummarizer, context.clock.now()).await.unwrap().unwrap();
    assert_eq!(due.millis_since(context.clock.now()), 90_000);
}
