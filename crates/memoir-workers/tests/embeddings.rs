//! Texts are embedded in batches, once each, even if the server rejects some of them.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use memoir_core::{Clock, Purpose, SystemClock, TimeZone, Usage, Usd, WorkerKind};
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, ModelError};
use memoir_recall::Recall;
use memoir_store::{
    CostFilter, Costs as _, Embeddings as _, Exchanges as _, Inspect as _, Jobs as _, contract,
};
use memoir_store_sqlite::SqliteStore;
use memoir_testkit::fakes::ManualClock;
use memoir_workers::{WorkerContext, WorkerReport, run_until_idle};
use tempfile::TempDir;

const KIND: WorkerKind = WorkerKind::EmbeddingGenerator;

/// An embedder that records its requests and rejects texts that contain `rejects`.
struct RecordingEmbedder {
    name: &'static str,
    batches: Mutex<Vec<Vec<String>>>,
    rejects: &'static str,
    error: Mutex<Option<ModelError>>,
}

impl RecordingEmbedder {
    fn new(name: &'static str) -> Arc<Self> {
        Arc::new(Self { name, batches: Mutex::default(), rejects: "poison", error: Mutex::default() })
    }

    fn batch_sizes(&self) -> Vec<usize> {
        self.batches.lock().unwrap().iter().map(Vec::len).collect()
    }
}

#[async_trait]
impl Embedder for RecordingEmbedder {
    fn name(&self) -> &str {
        self.name
    }

    fn dimensions(&self) -> Option<usize> {
        Some(4)
    }

    async fn embed(&self, texts: &[String], _task: EmbedTask) -> Result<EmbeddedTexts, ModelError> {
        self.batches.lock().unwrap().push(texts.to_vec());
        if let Some(error) = self.error.lock().unwrap().clone() {
            return Err(error);
        }
        if texts.iter().any(|text| text.contains(self.rejects)) {
            return Err(ModelError::BadRequest { status: 400, message: "no".into() });
        }
        let usage = Usage { input_tokens: texts.len() as u64, ..Usage::default() };
        Ok(EmbeddedTexts { vectors: vec![vec![1.0, 0.0, 0.0, 0.0]; texts.len()], usage })
    }

    fn cost(&self, usage: &Usage) -> Option<Usd> {
        Some(Usd::from_nanos(i64::try_from(usage.input_tokens).unwrap() * 1_000_000_000))
    }
}

/// Creates a store with exchanges of two messages each, long enough to be embedded.
async fn store(directory: &TempDir, exchanges: i64) -> SqliteStore {
    let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    for number in 0..exchanges {
        commit(&store, &format!("question {number}")).await;
    }
    store
}

async fn commit(store: &SqliteStore, prompt: &str) {
    let mut draft = contract::exchange(prompt, "an answer", 1);
    draft.messages.iter_mut().for_each(|message| message.tokens = 20);
    store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
}

fn context(store: &SqliteStore, model: &Arc<RecordingEmbedder>, budget: Option<Usd>) -> WorkerContext {
    context_at(store, model, budget, Arc::new(SystemClock))
}

fn context_at(
    store: &SqliteStore,
    model: &Arc<RecordingEmbedder>,
    budget: Option<Usd>,
    clock: Arc<dyn Clock>,
) -> WorkerContext {
    let embedder = Arc::clone(model) as Arc<dyn Embedder>;
    let recall = Recall::new(Arc::new(store.clone()), embedder, clock, TimeZone::UTC);
    WorkerContext::new(Arc::new(store.clone()), recall, None, budget)
}

async fn work(context: &WorkerContext) -> WorkerReport {
    run_until_idle(context, &[KIND], &mut |_, _| {}).await.unwrap().remove(0)
}

#[tokio::test]
async fn texts_are_sent_once_in_batches_of_a_hundred() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 120).await;
    let model = RecordingEmbedder::new("test/one");
    assert_eq!(work(&context(&store, &model, None)).await.done, 240);
    assert_eq!(model.batch_sizes(), [100, 100, 40]);
    assert_eq!(work(&context(&store, &model, None)).await.done, 0);
    let lines = store.cost_lines(&CostFilter { since: None, conversation: None }).await.unwrap();
    let embedding_costs = lines.iter().find(|line| line.purpose == Purpose::Embedding).unwrap();
    assert_eq!(
        (embedding_costs.summary.calls, embedding_costs.summary.cost),
        (3, Usd::from_nanos(240_000_000_000))
    );

    // A new model embeds every text again, and resumes after it was stopped.
    let other = RecordingEmbedder::new("test/other");
    let limited = context(&store, &other, Some(Usd::from_nanos(340_000_000_000)));
    let report = work(&limited).await;
    assert_eq!((report.done, report.stopped.is_some()), (100, true), "the budget is used up");
    assert_eq!(work(&context(&store, &other, None)).await.done, 140);
    let counts = store.embedding_counts().await.unwrap();
    assert!(counts.iter().all(|model| model.count == 240) && counts.len() == 2, "{counts:?}");
}

#[tokio::test]
async fn a_rejected_text_does_not_hold_up_the_others() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 30).await;
    commit(&store, "this is poison to it").await;
    let model = RecordingEmbedder::new("test/one");
    let context = context(&store, &model, None);
    let report = work(&context).await;
    assert_eq!((report.done, report.failed, report.stopped), (61, 1, None));
    assert_eq!(store.embedding_counts().await.unwrap()[0].count, 61);
    let failed_jobs = store.failed_jobs(10).await.unwrap();
    assert_eq!(failed_jobs.len(), 1);
    assert_eq!((failed_jobs[0].worker, failed_jobs[0].attempts), (KIND, 1));
    let calls = model.batch_sizes().len();
    assert!(calls < 20, "found by halving: {calls}");
    work(&context).await;
    assert_eq!(model.batch_sizes().len(), calls, "the rejected text is not sent again");
}

#[tokio::test]
async fn texts_are_embedded_after_a_temporary_failure() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 60).await;
    let model = RecordingEmbedder::new("test/one");
    *model.error.lock().unwrap() =
        Some(ModelError::Server { status: 503, message: "busy".into(), retry_after: None });
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let context = context_at(&store, &model, None, Arc::clone(&clock) as Arc<dyn Clock>);
    let report = work(&context).await;
    assert_eq!((report.done, report.failed), (0, 120), "both batches failed");
    assert_eq!(store.embedding_counts().await.unwrap(), [], "no partial batch is stored");
    assert!(store.next_due(KIND, memoir_core::Timestamp::from_millis(0)).await.unwrap().is_some());
    assert_eq!(store.failed_count().await.unwrap(), 0);
    *model.error.lock().unwrap() = None;
    clock.advance(1300);
    assert_eq!(work(&context).await.done, 120);
    let jobs = store.tables().await.unwrap().into_iter().find(|table| table.name == "jobs").unwrap();
    assert_eq!(jobs.rows, 0);
}

#[tokio::test]
async fn secrets_are_redacted_and_long_texts_truncated() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 0).await;
    commit(&store, &format!("postgres://me:swordfish@db {}", "x".repeat(20_000))).await;
    let model = RecordingEmbedder::new("test/one");
    work(&context(&store, &model, None)).await;
    let sent = model.batches.lock().unwrap()[0].join("\n");
    assert!(sent.contains("[redacted: password in an address]") && !sent.contains("swordfish"));
    assert!(sent.len() < 8200, "{}", sent.len());
}
