//! Workers beside the talk: they wait when they are told, stop in the middle of a call, and two processes never do the same.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures::StreamExt as _;
use memoir_core::{SystemClock, TimeZone, Usage, Usd, WorkerKind};
use memoir_embed::LocalEmbedder;
use memoir_models::{
    ChatEvent, ChatMessage, ChatModel, ChatRequest, ChatStream, Finish, ModelError, StopReason,
};
use memoir_recall::Recall;
use memoir_store::{Exchanges as _, Inspect as _, Jobs as _, contract, sqlite::SqliteStore};
use memoir_workers::{Office, Runner, State, run_until_idle};
use tempfile::TempDir;

const KIND: WorkerKind = WorkerKind::ExchangeSummarizer;

/// A model that counts its calls, and answers none, or all.
struct Model {
    calls: AtomicUsize,
    hangs: bool,
    prompts: Mutex<Vec<String>>,
}

impl Model {
    fn new(hangs: bool) -> Arc<Self> {
        Arc::new(Self { calls: AtomicUsize::new(0), hangs, prompts: Mutex::default() })
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Waits for the next call.
    async fn called(&self, times: usize) {
        while self.calls() < times {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[async_trait]
impl ChatModel for Model {
    fn name(&self) -> &str {
        "test/model"
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, ModelError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if let Some(ChatMessage::User(prompt)) = request.messages.first() {
            self.prompts.lock().unwrap().push(prompt.clone());
        }
        if self.hangs {
            return Ok(futures::stream::pending().boxed());
        }
        let end = ChatEvent::End(Finish { reason: StopReason::Done, replay: None });
        Ok(futures::stream::iter([ChatEvent::Text("In short.".into()), end].map(Ok)).boxed())
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        Some(Usd::ZERO)
    }
}

async fn store(directory: &TempDir, exchanges: i64) -> SqliteStore {
    let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    for number in 0..exchanges {
        let draft = contract::exchange(&format!("question {number}"), "answer", number);
        store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    }
    store
}

fn office(store: &SqliteStore, model: Arc<Model>, owner: &str) -> Office {
    let recall =
        Recall::new(Arc::new(store.clone()), Arc::new(LocalEmbedder), Arc::new(SystemClock), TimeZone::UTC);
    Office { owner: owner.to_owned(), ..Office::new(recall, Some(model), None) }
}

async fn jobs(store: &SqliteStore) -> u64 {
    store.tables().await.unwrap().iter().find(|table| table.name == "jobs").unwrap().rows
}

#[tokio::test]
async fn a_worker_in_the_middle_of_a_call_pauses_goes_on_and_stops() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 3).await;
    let model = Model::new(true);
    let mut runner = Runner::new(office(&store, Arc::clone(&model), "one"), None);
    runner.start(KIND);
    runner.start(KIND);
    model.called(1).await;
    assert_eq!(jobs(&store).await, 1, "it is at one piece, however often it was started");

    runner.pause().await;
    assert_eq!(runner.statuses()[0].state, State::Paused);
    assert_eq!(jobs(&store).await, 0, "given back without blame");
    runner.wake();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(model.calls(), 1, "while it waits nothing is called");

    runner.resume();
    model.called(2).await;
    tokio::time::timeout(Duration::from_secs(5), runner.stop(KIND)).await.unwrap();
    assert_eq!((runner.statuses()[0].state, jobs(&store).await), (State::Stopped, 0));
    runner.stop(KIND).await;
    // Pausing does not wait for one that is gone.
    runner.pause().await;
    runner.resume();
    runner.start(KIND);
    model.called(3).await;
    runner.stop_all().await;
    assert_eq!(store.failed_jobs(5).await.unwrap(), []);
}

#[tokio::test]
async fn two_processes_summarise_no_exchange_twice() {
    let directory = TempDir::new().unwrap();
    let one = store(&directory, 200).await;
    let other = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    let model = Model::new(false);
    let (first, second) =
        (office(&one, Arc::clone(&model), "one"), office(&other, Arc::clone(&model), "two"));
    let (first, second) = tokio::join!(
        tokio::spawn(async move { run_until_idle(&first, &WorkerKind::ALL, &mut |_, _| {}).await.unwrap() }),
        tokio::spawn(async move { run_until_idle(&second, &WorkerKind::ALL, &mut |_, _| {}).await.unwrap() }),
    );
    let done = |index: usize| first.as_ref().unwrap()[index].done + second.as_ref().unwrap()[index].done;
    assert_eq!((done(0), done(1)), (200, 200), "exchanges and conversations");
    let mut prompts = model.prompts.lock().unwrap().clone();
    assert_eq!(prompts.len(), 400);
    prompts.sort();
    // The same exchange is asked about twice at most: for itself, and for its conversation.
    assert!(prompts.chunks(2).all(|pair| pair[0] == pair[1]), "each as an exchange and as a conversation");
    prompts.dedup();
    assert_eq!(prompts.len(), 200);
    assert_eq!(jobs(&one).await, 0);
}

#[tokio::test]
async fn a_worker_says_what_it_is_at() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 1).await;
    let model = Model::new(true);
    let mut runner = Runner::new(office(&store, Arc::clone(&model), "one"), None);
    runner.start(KIND);
    model.called(1).await;
    let status = runner.statuses().remove(0);
    assert_eq!((status.state, status.current.len()), (State::Working, 1));
    assert_eq!(status.current[0].to_string(), "exchange 1");
    runner.stop_all().await;
    let status = runner.statuses().remove(0);
    assert_eq!((status.state, status.current), (State::Stopped, Vec::new()));
}

#[tokio::test]
async fn secrets_do_not_leave() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 0).await;
    let key = format!("sk-ant-api03-{}", "aB3".repeat(20));
    let draft = contract::exchange(&format!("My key is {key}, is it valid?"), "I cannot tell.", 1);
    store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    let model = Model::new(false);
    let office = office(&store, Arc::clone(&model), "one");
    run_until_idle(&office, &WorkerKind::ALL, &mut |_, _| {}).await.unwrap();
    let prompts = model.prompts.lock().unwrap().clone();
    assert_eq!(prompts.len(), 2);
    assert!(
        prompts.iter().all(|prompt| !prompt.contains(&key) && prompt.contains("[redacted: Anthropic key]"))
    );
}
