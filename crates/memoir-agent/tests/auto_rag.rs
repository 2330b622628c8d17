//! What was said earlier in a conversation and has left the window: when it is looked for, and what it costs the window.

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
        ChatMessage::User(text) | ChatMessage::Assistant { text, .. } => count_tokens(text),
        ChatMessage::ToolResults(_) => 0,
    });
    texts.sum::<usize>() + count_tokens(&request.system)
}

/// A model that refuses what is larger than this.
fn refuse_above(limit: usize) -> FakeModel {
    let model = FakeModel::new(move |request| match size(request) {
        size if size > limit => FakeReply::Error(ModelError::ContextTooLong { message: "too long".into() }),
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

/// A conversation of forty exchanges, of which the first holds a fact.
async fn fixture(embedder: Arc<dyn Embedder>, refuses_above: usize) -> Fixture {
    let directory = TempDir::new().unwrap();
    let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    let mut target = contract::new_conversation("t", "/p");
    let mut id = None;
    for number in 0..40 {
        let asked = if number == 0 {
            FACT.to_owned()
        } else {
            format!("Day {number} by the river was quiet, and nothing happened at all.")
        };
        let mut draft =
            contract::exchange(&asked, "I see, tell me more about that whenever you like.", number);
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
    let model = Arc::new(refuse_above(refuses_above));
    let tool_context = ToolContext::new(directory.path(), &[], store.clone(), recall.clone()).unwrap();
    let mut state = AgentState::new(Arc::clone(&model) as _, ToolSet::all(), recall, conversation);
    state.tools = Arc::new(ToolSet::new(Vec::new()));
    Fixture { _directory: directory, agent: Arc::new(Agent::new(store, tool_context)), state, model }
}

fn layer(report: &ContextReport, wanted: Layer) -> u64 {
    report.layers.iter().find(|(layer, _)| *layer == wanted).unwrap().1
}

#[tokio::test]
async fn the_window_gives_room_to_what_is_quoted_and_gets_back_what_is_not_used() {
    let mut fixture = fixture(Arc::new(LocalEmbedder), usize::MAX).await;
    let mut made_way = 0;
    for budget in (2300..4500).step_by(50) {
        fixture.state.context.budget_tokens = budget;
        fixture.state.context.reply_tokens = 300;
        let look = async |prompt: &str| fixture.agent.preview(&fixture.state, prompt).await.unwrap();
        let (asked, thanked) = (look(QUESTION).await, look("thanks").await);
        assert!(asked.sent() <= budget - 300 && thanked.sent() <= budget - 300);
        assert_eq!(layer(&thanked, Layer::Earlier), 0, "thanks ask for nothing");
        let quoted = layer(&asked, Layer::Earlier);
        // Whole, it is sent whole and not looked through; what left it is there to be found.
        assert_eq!(quoted > 0, layer(&asked, Layer::Summary) > 0, "{asked:?}");
        assert!(layer(&asked, Layer::Window) <= layer(&thanked, Layer::Window), "{asked:?} {thanked:?}");
        made_way += usize::from(layer(&asked, Layer::Window) < layer(&thanked, Layer::Window));
    }
    assert!(made_way > 0, "somewhere in between, a block has to go for what is quoted");
}

#[tokio::test]
async fn nothing_is_looked_for_when_recall_is_off() {
    let mut fixture = fixture(Arc::new(LocalEmbedder), usize::MAX).await;
    fixture.state.context.budget_tokens = 2300;
    fixture.state.context.reply_tokens = 300;
    let on = fixture.agent.preview(&fixture.state, QUESTION).await.unwrap();
    fixture.state.recall.settings.enabled = false;
    let off = fixture.agent.preview(&fixture.state, QUESTION).await.unwrap();
    assert!(layer(&on, Layer::Earlier) > 0);
    assert_eq!(layer(&off, Layer::Earlier), 0);
    assert!(layer(&off, Layer::Window) >= layer(&on, Layer::Window));
}

/// An embedder that never gets done.
struct Asleep;

#[async_trait]
impl Embedder for Asleep {
    fn name(&self) -> &str {
        "test/asleep"
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
async fn what_is_late_is_left_out_and_said() {
    let mut fixture = fixture(Arc::new(Asleep), usize::MAX).await;
    let mut details = Vec::new();
    let mut observer = |event: TurnEvent| {
        if let TurnEvent::Detail(detail) = event {
            details.push(detail);
        }
    };
    let cancel = CancellationToken::new();
    let turn = fixture.agent.run_turn(&mut fixture.state, QUESTION, &mut observer, &cancel);
    assert_eq!(turn.await.unwrap().text, "ok", "neither the answer nor its keeping waits for it");
    assert_eq!(details, ["Asking memory took too long and was left out."]);
}

#[tokio::test]
async fn a_refusal_is_learned_from() {
    let mut fixture = fixture(Arc::new(LocalEmbedder), 900).await;
    let (mut observer, cancel) = (|_: TurnEvent| {}, CancellationToken::new());
    for _ in 0..2 {
        let turn = fixture.agent.run_turn(&mut fixture.state, QUESTION, &mut observer, &cancel);
        turn.await.unwrap();
    }
    let sent: Vec<usize> = fixture.model.requests().iter().map(size).collect();
    let answered = sent.iter().position(|size| *size <= 900).unwrap();
    assert_eq!(answered, 1, "it is asked once more: {sent:?}");
    assert!(sent[2] < sent[0], "less is sent from the start than was refused: {sent:?}");
    assert!(*sent.last().unwrap() <= 900);
}
