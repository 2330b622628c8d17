//! Tests turns with models and tools that panic.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::{panic::AssertUnwindSafe, sync::Arc};

use async_trait::async_trait;
use futures::FutureExt as _;
use memoir_agent::{Agent, AgentState, CurrentConversation, TurnError, TurnEvent, TurnReport};
use memoir_core::{SystemClock, TimeZone, ToolCall, ToolSpec};
use memoir_embed::LocalEmbedder;
use memoir_models::{ChatMessage, ChatRequest};
use memoir_recall::Recall;
use memoir_store::Inspect as _;
use memoir_store_sqlite::SqliteStore;
use memoir_testkit::fakes::{FakeModel, FakeReply};
use memoir_tools::{Tool, ToolContext, ToolError, ToolOutput, ToolSet};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Calls the tool once, then answers with its result.
fn call_tool_once(request: &ChatRequest) -> FakeReply {
    match request.messages.last() {
        Some(ChatMessage::ToolResults(results)) => FakeReply::Text(results[0].text.clone()),
        _ => FakeReply::ToolCall(ToolCall { id: "1".into(), name: "bomb".into(), arguments: json!({}) }),
    }
}

/// Calls the tool once, then panics.
fn panic_after_tool(request: &ChatRequest) -> FakeReply {
    match call_tool_once(request) {
        FakeReply::ToolCall(call) => FakeReply::ToolCall(call),
        _ => panic!("the model's client has a bug"),
    }
}

struct PanickingTool;

#[async_trait]
impl Tool for PanickingTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("bomb", "Panics.", json!({"type": "object"}))
    }

    async fn run(&self, _arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        panic!("this tool has a bug")
    }
}

async fn turn(
    directory: &TempDir,
    script: fn(&ChatRequest) -> FakeReply,
) -> (SqliteStore, Result<TurnReport, TurnError>) {
    let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    let mut recall =
        Recall::new(Arc::new(store.clone()), Arc::new(LocalEmbedder), Arc::new(SystemClock), TimeZone::UTC);
    recall.settings.enabled = false;
    let shared = Arc::new(store.clone());
    let tool_context = ToolContext::new(directory.path(), &[], shared.clone(), recall.clone()).unwrap();
    let agent = Arc::new(Agent::new(shared, tool_context));
    let model = Arc::new(FakeModel::new(script));
    let mut state = AgentState::new(model, ToolSet::all(), recall, CurrentConversation::new("/test"));
    state.tools = Arc::new(ToolSet::new(vec![Arc::new(PanickingTool)]));
    let mut observer = |_: TurnEvent| {};
    let result = agent.run_turn(&mut state, "Go", &mut observer, &CancellationToken::new()).await;
    (store, result)
}

#[tokio::test]
async fn the_model_gets_an_error_if_a_tool_panics() {
    let directory = TempDir::new().unwrap();
    let (_, result) = turn(&directory, call_tool_once).await;
    assert_eq!(result.unwrap().text, "error: the tool crashed");
}

#[tokio::test]
async fn a_panic_during_a_turn_stores_nothing() {
    let directory = TempDir::new().unwrap();
    let work = turn(&directory, panic_after_tool);
    assert!(AssertUnwindSafe(work).catch_unwind().await.is_err());
    let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    assert!(store.tables().await.unwrap().iter().all(|table| table.rows == 0));
}
