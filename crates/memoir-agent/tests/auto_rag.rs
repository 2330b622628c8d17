//! Tests recall from exchanges that have left the window: when they are searched, and how the window shrinks for the
//! passages.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::Arc;

use async_trait::async_trait;
use memoir_agent::{Agent, AgentState, ContextReport, CurrentConversation, Layer, TurnEvent};
use memoir_core::{SystemClock, TimeZone, Usage, Usd, count_tokens};
use memoir_embed::LocalEmbedder;
use memoir_models::{ChatMessage, ChatRequest, EmbedTask, EmbeddedTexts, Embedder, ModelError, ModelLimits};
use memoir_recall::Recall;
use memoir_store::{Exchanges as _, contract};
use memoir_store_sqlite::SqliteStore;
use memoir_testkit::fakes::{FakeModel, FakeReply};
use memoir_tools::{ToolContext, ToolSet};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Returns the size of a request without its tools.
fn size(request: &ChatRequest) -> usize {
    let texts = request.messages.iter().map(|message| match message {
        ChatMessage::User { text, .. } | ChatMessage::Assistant { text, .. } => count_tokens(text),
        ChatMessage::ToolResults(_) => 0,
    });
    texts.sum::<usize>() + count_tokens(&request.system)
}

/// Returns a model that rejects requests of more than `limit` tokens.
fn model_with_limit(limit: usize) -> FakeModel {
    let model = FakeModel::new(move |request| match size(request) {
        size if size > limit => {
            FakeReply::Error(ModelError::ContextTooLong { message: "too long".into(), limit: None })
        }
        _ => FakeReply::Text("ok".into()),
    });
    model.with_limits(ModelLimits { context: Some(200_000), ..ModelLimits::default() })
}

struct Fixture {
    _directory: TempDir,
    agent: Arc<Agent>,
    state: AgentState,
    model: Arc<FakeModel>,
}

const FACT: &str = "The spare key is under the blue flower pot next to the door.";
const QUESTION: &str = "Where did I put the spare key?";

/// Creates a conversation of 40 exchanges, the first of which contains [`FACT`].
async fn fixture(embedder: Arc<dyn Embedder>, model_limit: usize) -> Fixture {
    let directory = TempDir::new().unwrap();
    let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    let mut target = contract::new_conversation("t", "/p");
    let mut id = None;
    for number in 0..40 {
        let prompt = if number == 0 {
            FACT.to_owned()
        } else {
            format!("Day {number} by the river was quiet, and nothing happened at all.")
        };
        let mut draft =
            contract::exchange(&prompt, "I see, tell me more about that whenever you like.", number);
        draft
            .messages
            .iter_mut()
            .for_each(|message| message.tokens = count_tokens(message.body.text()) as u64);
        let committed = store.commit_exchange(&target, &draft).await.unwrap();
        target = committed.to_target();
        id = Some(committed.conversation_id);
    }
    let conversation = CurrentConversation::resume(&store, id.unwrap(), "/p").await.unwrap();
    let store = Arc::new(store);
    let recall = Recall::new(store.clone(), embedder, Arc::new(SystemClock), TimeZone::UTC);
    let model = Arc::new(model_with_limit(model_limit));
    let tool_context = ToolContext::new(directory.path(), &[], store.clone(), recall.clone()).unwrap();
    let mut state = AgentState::new(Arc::clone(&model) as _, ToolSet::all(), recall, conversation);
    state.tools = Arc::new(ToolSet::new(Vec::new()));
    Fixture { _directory: directory, agent: Arc::new(Agent::new(store, tool_context)), state, model }
}

fn layer_size(report: &ContextReport, layer: Layer) -> u64 {
    report.layers.iter().find(|(other, _)| *other == layer).unwrap().1
}

#[tokio::test]
async fn the_window_shrinks_for_earlier_passages_and_gets_unused_tokens_back() {
    let mut fixture = fixture(Arc::new(LocalEmbedder), usize::MAX).await;
    let mut shrunk_windows = 0;
    for budget in (2300..4500).step_by(50) {
        fixture.state.context.budget_tokens = budget;
        fixture.state.context.reply_tokens = 300;
        let preview = async |prompt: &str| fixture.agent.preview(&fixture.state, prompt).await.unwrap();
        let (question, thanks) = (preview(QUESTION).await, preview("thanks").await);
        assert!(question.request_tokens() <= budget - 300 && thanks.request_tokens() <= budget - 300);
        assert_eq!(layer_size(&thanks, Layer::Earlier), 0, "thanks are not searched for");
        let earlier = layer_size(&question, Layer::Earlier);
        // Only exchanges that have left the window are searched.
        assert_eq!(earlier > 0, layer_size(&question, Layer::Summary) > 0, "{question:?}");
        let windows = [&question, &thanks].map(|report| layer_size(report, Layer::Window));
        assert!(windows[0] <= windows[1], "{question:?} {thanks:?}");
        shrunk_windows += usize::from(windows[0] < windows[1]);
    }
    assert!(shrunk_windows > 0, "for some budget, exchanges must leave the window for the passages");
}

#[tokio::test]
async fn earlier_exchanges_are_not_searched_if_recall_is_off() {
    let mut fixture = fixture(Arc::new(LocalEmbedder), usize::MAX).await;
    fixture.state.context.budget_tokens = 2300;
    fixture.state.context.reply_tokens = 300;
    let on = fixture.agent.preview(&fixture.state, QUESTION).await.unwrap();
    fixture.state.recall.settings.enabled = false;
    let off = fixture.agent.preview(&fixture.state, QUESTION).await.unwrap();
    assert!(layer_size(&on, Layer::Earlier) > 0);
    assert_eq!(layer_size(&off, Layer::Earlier), 0);
    assert!(layer_size(&off, Layer::Window) >= layer_size(&on, Layer::Window));
}

struct HangingEmbedder;

#[async_trait]
impl Embedder for HangingEmbedder {
    fn name(&self) -> &str {
        "test/hanging"
    }

    fn dimensions(&self) -> Option<usize> {
        Some(3)
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        None
    }

    async fn embed(&self, _texts: &[String], _task: EmbedTask) -> Result<EmbeddedTexts, ModelError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_late_memory_search_is_skipped_with_a_notice() {
    let mut fixture = fixture(Arc::new(HangingEmbedder), usize::MAX).await;
    let mut details = Vec::new();
    let mut observer = |event: TurnEvent| {
        if let TurnEvent::Detail(detail) = event {
            details.push(detail);
        }
    };
    let cancel = CancellationToken::new();
    let turn = fixture.agent.run_turn(&mut fixture.state, QUESTION, &mut observer, &cancel);
    assert_eq!(turn.await.unwrap().text, "ok", "neither the answer nor the commit waits for the embedder");
    assert_eq!(details, ["The memory search took too long and was skipped."]);
}

#[tokio::test]
async fn a_rejected_size_limits_later_requests() {
    let mut fixture = fixture(Arc::new(LocalEmbedder), 900).await;
    let (mut observer, cancel) = (|_: TurnEvent| {}, CancellationToken::new());
    for _ in 0..2 {
        let turn = fixture.agent.run_turn(&mut fixture.state, QUESTION, &mut observer, &cancel);
        turn.await.unwrap();
    }
    let sizes: Vec<usize> = fixture.model.requests().iter().map(size).collect();
    let first_accepted = sizes.iter().position(|size| *size <= 900).unwrap();
    assert_eq!(first_accepted, 1, "the first turn retries once: {sizes:?}");
    assert!(sizes[2] < sizes[0], "the second turn starts with a smaller request: {sizes:?}");
    assert!(*sizes.last().unwrap() <= 900);
}
