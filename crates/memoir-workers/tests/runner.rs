//! Workers pause, resume and stop in the middle of a call, and two processes never process the same job.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::Arc;

use memoir_core::{SystemClock, TimeZone, WorkerKind};
use memoir_embed::LocalEmbedder;
use memoir_models::{ChatRequest, ModelError};
use memoir_recall::Recall;
use memoir_store::{Exchanges as _, Inspect as _, Jobs as _, contract};
use memoir_store_sqlite::SqliteStore;
use memoir_testkit::{
    WAIT_TIMEOUT,
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
    WorkerContext::new(Arc::new(store.clone()), recall, Some(model), None).with_owner(owner)
}

async fn jobs(store: &SqliteStore) -> u64 {
    store.tables().await.unwrap().iter().find(|table| table.name == "jobs").unwrap().rows
}

#[tokio::test]
async fn a_worker_in_the_middle_of_a_call_pauses_resumes_and_stops() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 3).await;
    let model = Arc::new(FakeModel::hanging());
    let mut runner = Runner::new(context(&store, Arc::clone(&model), "one"), None);
    runner.start(KIND);
    runner.start(KIND);
    model.wait_for_calls(1).await;
    assert_eq!(jobs(&store).await, 1, "starting a worker twice does not claim a second job");

    runner.pause().await;
    assert_eq!(runner.statuses()[0].state, WorkerState::Paused);
    assert_eq!(jobs(&store).await, 1, "a paused worker keeps its lease");
    runner.wake();
    // Each query of the store gives the worker a chance to run.
    for _ in 0..50 {
        assert_eq!(jobs(&store).await, 1);
    }
    assert_eq!(model.calls(), 1, "a paused worker does not call the model");

    runner.resume();
    model.wait_for_calls(2).await;
    tokio::time::timeout(WAIT_TIMEOUT, runner.stop(KIND)).await.unwrap();
    assert_eq!((runner.statuses()[0].state, jobs(&store).await), (WorkerState::Stopped, 0));
    runner.stop(KIND).await;
    // Pausing does not wait for a worker that was stopped.
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
    let first_store = store(&directory, 200).await;
    let second_store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    let model = Arc::new(FakeModel::answering("In short."));
    let (first, second) =
        (context(&first_store, Arc::clone(&model), "one"), context(&second_store, Arc::clone(&model), "two"));
    let (first, second) = tokio::join!(
        tokio::spawn(async move { run_until_idle(&first, &WorkerKind::ALL, &mut |_, _| {}).await.unwrap() }),
        tokio::spawn(async move { run_until_idle(&second, &WorkerKind::ALL, &mut |_, _| {}).await.unwrap() }),
    );
    let done = |index: usize| first.as_ref().unwrap()[index].done + second.as_ref().unwrap()[index].done;
    assert_eq!((done(0), done(1)), (200, 200), "exchanges and conversations");
    let mut prompts = model.prompts();
    assert_eq!(prompts.len(), 400);
    prompts.sort();
    // Each exchange is sent twice: for itself and for its conversation.
    assert!(
        prompts.chunks(2).all(|pair| pair[0] == pair[1]),
        "once as an exchange and once as a conversation"
    );
    prompts.dedup();
    assert_eq!(prompts.len(), 200);
    assert_eq!(jobs(&first_store).await, 0);
}

#[tokio::test]
async fn the_status_lists_the_current_jobs() {
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
async fn secrets_are_redacted_before_they_are_sent() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 0).await;
    let key = format!("sk-ant-api03-{}", "aB3".repeat(20));
    let draft = contract::exchange(&format!("My key is {key}, is it valid?"), "I cannot tell.", 1);
    store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    let model = Arc::new(FakeModel::answering("In short."));
    let context = context(&store, Arc::clone(&model), "one");
    run_until_idle(&context, &WorkerKind::ALL, &mut |_, _| {}).await.unwrap();
    let prompts = model.prompts();
    assert_eq!(prompts.len(), 2);
    assert!(
        prompts.iter().all(|prompt| !prompt.contains(&key) && prompt.contains("[redacted: Anthropic key]"))
    );
}

#[tokio::test]
async fn a_key_that_spans_two_parts_is_redacted() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 0).await;
    let body = "MIIEpAIBAAKCAQEA".repeat(120);
    let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----");
    // Parts have at most 12,000 bytes, so these keys would be split if redaction came later.
    for offset in [11_000, 11_970, 11_990] {
        let prompt = format!("{} {key} {}", "x ".repeat(offset / 2), "y ".repeat(12_000));
        let draft = contract::exchange(&prompt, "Noted.", 1);
        store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    }
    let model = Arc::new(FakeModel::answering("In short."));
    let context = context(&store, Arc::clone(&model), "one");
    run_until_idle(&context, &[KIND], &mut |_, _| {}).await.unwrap();
    let sent = model.prompts().concat();
    assert!(model.calls() >= 6, "the texts are sent in parts");
    assert!(!sent.contains("MIIEpAIBAAKCAQEA") && sent.contains("[redacted: private key]"));
}

/// Rejects prompts of more than 9000 bytes as too long.
fn reject_long_prompts(request: &ChatRequest) -> FakeReply {
    match read_prompt(request) {
        Some(prompt) if prompt.len() > 9000 => {
            FakeReply::Error(ModelError::ContextTooLong { message: "4096 tokens".into(), limit: None })
        }
        _ => FakeReply::Text("In short.".into()),
    }
}

#[tokio::test]
async fn text_that_is_too_long_is_sent_in_smaller_parts_once() {
    let directory = TempDir::new().unwrap();
    let store = store(&directory, 0).await;
    let prompt = "one two three four five ".repeat(1200);
    let draft = contract::exchange(&prompt, "Noted.", 1);
    store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
    let model = Arc::new(FakeModel::new(reject_long_prompts));
    let context = context(&store, Arc::clone(&model), "one");
    let reports = run_until_idle(&context, &[KIND], &mut |_, _| {}).await.unwrap();
    assert_eq!((reports[0].done, reports[0].failed), (1, 0));
    let prompts: Vec<String> = model.prompts().into_iter().filter(|prompt| prompt.len() <= 9000).collect();
    assert!(prompts.len() >= 4);
    let words: usize = prompts.iter().map(|prompt| prompt.matches("three").count()).sum();
    assert_eq!(words, 1200, "each part is sent once");
}
