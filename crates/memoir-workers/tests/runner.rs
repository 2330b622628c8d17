//! Workers beside the talk: they wait when they are told, stop in the middle of a call, and two processes never do the same.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::Arc;

use memoir_core::{SystemClock, TimeZone, WorkerKind};
use memoir_embed::LocalEmbedder;
use memoir_models::{ChatRequest, ModelError};
use memoir_recall::Recall;
use memoir_store::{Exchanges as _, Inspect as _, Jobs as _, contract};
use memoir_store_sqlite::SqliteStore;
use memoir_testkit::{
    PATIENCE,
    fakes::{FakeModel, FakeReply, read_prompt},
};
use memoir_workers::{Runner, WorkerContext, WorkerState, run_until_idle};
use tempfile::TempDir;

const KIND: WorkerKind = WorkerKind::ExchangeSummarizer;

async fn store(directory: &TempDir, exchanges: i64) -> SqliteStore {
    let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    for number in 0..exchanges {
        let draft = contract::exchange(&format!("question {number}"), "answer", number);
        store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    }
    store
}

fn context(store: &SqliteStore, model: Arc<FakeModel>, owner: &str) -> WorkerContext {
    let recall =
        Recall::new(Arc::new(store.clone()), Arc::new(LocalEmbedder), Arc::new(SystemClock), TimeZone::UTC);
    WorkerContext::new(Arc::new(store.clone()), recall, Some(model), None).owned_by(owner)
}

async fn jobs(store: &SqliteStore) -> u64 {
    store.tables().await.unwrap().iter().find(|table| table.name == "jobs").unwrap().rows
}

#[tokio::test]
async fn a_worker_in_the_middle_of_a_call_pauses_goes_on_and_stops() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 3).await;
    let model = Arc::new(FakeModel::hanging());
    let mut runner = Runner::new(context(&store, Arc::clone(&model), "one"), None);
    runner.start(KIND);
    runner.start(KIND);
    model.wait_for_calls(1).await;
    assert_eq!(jobs(&store).await, 1, "it is at one piece, however often it was started");

    runner.pause().await;
    assert_eq!(runner.statuses()[0].state, WorkerState::Paused);
    assert_eq!(jobs(&store).await, 1, "nobody else takes it meanwhile");
    runner.wake();
    // Each question to the store gives the worker a chance to run.
    for _ in 0..50 {
        assert_eq!(jobs(&store).await, 1);
    }
    assert_eq!(model.calls(), 1, "while it waits nothing is called");

    runner.resume();
    model.wait_for_calls(2).await;
    tokio::time::timeout(PATIENCE, runner.stop(KIND)).await.unwrap();
    assert_eq!((runner.statuses()[0].state, jobs(&store).await), (WorkerState::Stopped, 0));
    runner.stop(KIND).await;
    // Pausing does not wait for one that is gone.
    runner.pause().await;
    runner.resume();
    runner.start(KIND);
    model.wait_for_calls(3).await;
    runner.stop_all().await;
    assert_eq!(store.failed_jobs(5).await.unwrap(), []);
}

#[tokio::test]
async fn two_processes_summarise_no_exchange_twice() {
    let directory = TempDir::new().unwrap();
    let one = store(&directory, 200).await;
    let other = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    let model = Arc::new(FakeModel::saying("In short."));
    let (first, second) =
        (context(&one, Arc::clone(&model), "one"), context(&other, Arc::clone(&model), "two"));
    let (first, second) = tokio::join!(
        tokio::spawn(async move { run_until_idle(&first, &WorkerKind::ALL, &mut |_, _| {}).await.unwrap() }),
        tokio::spawn(async move { run_until_idle(&second, &WorkerKind::ALL, &mut |_, _| {}).await.unwrap() }),
    );
    let done = |index: usize| first.as_ref().unwrap()[index].done + second.as_ref().unwrap()[index].done;
    assert_eq!((done(0), done(1)), (200, 200), "exchanges and conversations");
    let mut prompts = model.prompts();
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
    let model = Arc::new(FakeModel::hanging());
    let mut runner = Runner::new(context(&store, Arc::clone(&model), "one"), None);
    runner.start(KIND);
    model.wait_for_calls(1).await;
    let status = runner.statuses().remove(0);
    assert_eq!((status.state, status.current.len()), (WorkerState::Working, 1));
    assert_eq!(status.current[0].to_string(), "exchange 1");
    runner.stop_all().await;
    let status = runner.statuses().remove(0);
    assert_eq!((status.state, status.current), (WorkerState::Stopped, Vec::new()));
}

#[tokio::test]
async fn secrets_do_not_leave() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 0).await;
    let key = format!("sk-ant-api03-{}", "aB3".repeat(20));
    let draft = contract::exchange(&format!("My key is {key}, is it valid?"), "I cannot tell.", 1);
    store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    let model = Arc::new(FakeModel::saying("In short."));
    let context = context(&store, Arc::clone(&model), "one");
    run_until_idle(&context, &WorkerKind::ALL, &mut |_, _| {}).await.unwrap();
    let prompts = model.prompts();
    assert_eq!(prompts.len(), 2);
    assert!(
        prompts.iter().all(|prompt| !prompt.contains(&key) && prompt.contains("[redacted: Anthropic key]"))
    );
}

#[tokio::test]
async fn a_key_that_lies_across_two_parts_does_not_leave_either() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 0).await;
    let body = "MIIEpAIBAAKCAQEA".repeat(120);
    let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----");
    // Parts are of 12,000 bytes at most: wherever the key lies, it is found before they are made.
    for before in [11_000, 11_970, 11_990] {
        let asked = format!("{} {key} {}", "x ".repeat(before / 2), "y ".repeat(12_000));
        let draft = contract::exchange(&asked, "Noted.", 1);
        store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    }
    let model = Arc::new(FakeModel::saying("In short."));
    let context = context(&store, Arc::clone(&model), "one");
    run_until_idle(&context, &[KIND], &mut |_, _| {}).await.unwrap();
    let sent = model.prompts().concat();
    assert!(model.calls() >= 6, "in parts");
    assert!(!sent.contains("MIIEpAIBAAKCAQEA") && sent.contains("[redacted: private key]"));
}

/// A model that takes little, and says so.
fn take_little(request: &ChatRequest) -> FakeReply {
    match read_prompt(request) {
        Some(prompt) if prompt.len() > 9000 => {
            FakeReply::Error(ModelError::ContextTooLong { message: "4096 tokens".into() })
        }
        _ => FakeReply::Text("In short.".into()),
    }
}

#[tokio::test]
async fn what_is_too_long_for_a_model_is_sent_in_smaller_parts_and_not_twice() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 0).await;
    let asked = "one two three four five ".repeat(1200);
    let draft = contract::exchange(&asked, "Noted.", 1);
    store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    let model = Arc::new(FakeModel::new(take_little));
    let context = context(&store, Arc::clone(&model), "one");
    let reports = run_until_idle(&context, &[KIND], &mut |_, _| {}).await.unwrap();
    assert_eq!((reports[0].done, reports[0].failed), (1, 0));
    let prompts: Vec<String> = model.prompts().into_iter().filter(|prompt| prompt.len() <= 9000).collect();
    assert!(prompts.len() >= 4);
    let words: usize = prompts.iter().map(|prompt| prompt.matches("three").count()).sum();
    assert_eq!(words, 1200, "each part once");
}
