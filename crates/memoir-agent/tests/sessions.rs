//! Several sessions on one agent: turns at the same time, and commits to the same conversation.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use futures::StreamExt as _;
use memoir_agent::{Agent, AgentState, CurrentConversation, TurnError, TurnReport};
use memoir_core::{ExchangeId, InputPart, SystemClock, TimeZone, TurnInput, Usage, Usd};
use memoir_embed::LocalEmbedder;
use memoir_models::{ChatEvent, ChatModel, ChatRequest, ChatStream, Finish, ModelError, StopReason};
use memoir_recall::Recall;
use memoir_store::{Costs as _, Exchanges as _, Forget, Forgetting as _};
use memoir_store_sqlite::SqliteStore;
use memoir_tools::{ToolContext, ToolSet};
use tempfile::TempDir;
use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;

/// A model that answers when a number of turns are waiting for it, which shows that they run at the same time.
struct Gathering {
    turns: Barrier,
    calls: AtomicUsize,
}

impl Gathering {
    fn new(turns: usize) -> Arc<Self> {
        Arc::new(Self { turns: Barrier::new(turns), calls: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl ChatModel for Gathering {
    fn name(&self) -> &str {
        "test/gathering"
    }

    async fn stream(&self, _request: ChatRequest) -> Result<ChatStream, ModelError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.turns.wait().await;
        let end = ChatEvent::End(Finish { reason: StopReason::Done, replay: None });
        Ok(futures::stream::iter([ChatEvent::Text("an answer".into()), end].map(Ok)).boxed())
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        Some(Usd::ZERO)
    }
}

struct Fixture {
    _directory: TempDir,
    store: SqliteStore,
    agent: Arc<Agent>,
    recall: Recall,
}

impl Fixture {
    async fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
        let clock = Arc::new(SystemClock);
        let mut recall = Recall::new(Arc::new(store.clone()), Arc::new(LocalEmbedder), clock, TimeZone::UTC);
        let shared = Arc::new(store.clone());
        recall.settings.enabled = false;
        let context = ToolContext::new(directory.path(), &[], shared.clone(), recall.clone()).unwrap();
        Self { _directory: directory, store, agent: Arc::new(Agent::new(shared, context)), recall }
    }

    fn session(&self, model: &Arc<Gathering>, conversation: CurrentConversation) -> AgentState {
        let model = Arc::clone(model) as Arc<dyn ChatModel>;
        let mut state = AgentState::new(model, ToolSet::all(), self.recall.clone(), conversation);
        state.tools = Arc::new(ToolSet::new(Vec::new()));
        state
    }

    /// A session that has had one turn.
    async fn begun(&self, model: &Arc<Gathering>) -> AgentState {
        let mut state = self.session(model, CurrentConversation::begin("/p"));
        self.turn(&mut state, "first").await.unwrap();
        state
    }

    async fn turn(
        &self,
        state: &mut AgentState,
        input: impl Into<TurnInput> + Send,
    ) -> Result<TurnReport, TurnError> {
        self.agent.run_turn(state, input, &mut |_| {}, &CancellationToken::new()).await
    }

    async fn exchanges(&self, state: &AgentState) -> Vec<ExchangeId> {
        let exchanges = self.store.exchanges(state.conversation.id().unwrap(), 10).await.unwrap();
        exchanges.into_iter().map(|exchange| exchange.id).collect()
    }
}

#[tokio::test]
async fn two_sessions_run_turns_at_the_same_time() {
    let fixture = Fixture::new().await;
    let model = Gathering::new(2);
    let mut one = fixture.session(&model, CurrentConversation::begin("/p"));
    let mut two = fixture.session(&model, CurrentConversation::begin("/q"));
    let (first, second) = tokio::join!(fixture.turn(&mut one, "hi"), fixture.turn(&mut two, "hello"));
    assert_ne!(first.unwrap().conversation_id, second.unwrap().conversation_id);
}

#[tokio::test]
async fn the_second_commit_to_a_conversation_conflicts() {
    let fixture = Fixture::new().await;
    let mut one = fixture.begun(&Gathering::new(1)).await;
    let mut two = one.clone();
    let together = Gathering::new(2);
    (one.model, two.model) =
        (Arc::clone(&together) as Arc<dyn ChatModel>, Arc::clone(&together) as Arc<dyn ChatModel>);
    let (first, second) = tokio::join!(fixture.turn(&mut one, "mine"), fixture.turn(&mut two, "yours"));
    let (committed, refused, mut stale) = match (first, second) {
        (Ok(report), Err(error)) => (report, error, two),
        (Err(error), Ok(report)) => (report, error, one),
        both => panic!("one of them conflicts: {both:?}"),
    };
    let TurnError::Conflict { conversation, answer } = refused else { panic!("{refused:?}") };
    assert_eq!((conversation, answer.as_deref()), (committed.conversation_id, Some("an answer")));

    // Nothing of it is stored but what it cost.
    let stored = fixture.exchanges(&stale).await;
    assert_eq!((stored.len(), stored.last()), (2, Some(&committed.exchange_id)));
    assert_eq!(fixture.store.conversation_cost(conversation).await.unwrap().calls, 3);

    // Until the session reads what was added, it is refused before it pays for another answer.
    let alone = Gathering::new(1);
    stale.model = Arc::clone(&alone) as Arc<dyn ChatModel>;
    let again = fixture.turn(&mut stale, "yours").await;
    assert!(matches!(again, Err(TurnError::Conflict { answer: None, .. })), "{again:?}");
    assert_eq!(alone.calls.load(Ordering::Relaxed), 0);
    stale.conversation = CurrentConversation::resume(&fixture.store, conversation, "/p").await.unwrap();
    fixture.turn(&mut stale, "yours").await.unwrap();
    assert_eq!(fixture.exchanges(&stale).await.len(), 3);
}

#[tokio::test]
async fn replacing_an_answer_conflicts_as_well() {
    let fixture = Fixture::new().await;
    let mut one = fixture.begun(&Gathering::new(1)).await;
    let mut two = one.clone();
    fixture.turn(&mut one, "second").await.unwrap();
    let before = fixture.exchanges(&one).await;
    for replaced in &before {
        two.conversation.replace(Some(*replaced));
        let refused = fixture.turn(&mut two, "again").await;
        assert!(matches!(refused, Err(TurnError::Conflict { .. })), "{refused:?}");
    }
    assert_eq!(fixture.exchanges(&one).await, before, "nothing was replaced");
    one.conversation.replace(before.last().copied());
    fixture.turn(&mut one, "again").await.unwrap();
    assert_eq!(fixture.exchanges(&one).await.len(), 2);
}

#[tokio::test]
async fn forgetting_the_last_exchange_is_not_a_conflict() {
    let fixture = Fixture::new().await;
    let mut state = fixture.begun(&Gathering::new(1)).await;
    let last = fixture.turn(&mut state, "second").await.unwrap();
    fixture.store.forget(Forget::Exchange(last.exchange_id)).await.unwrap();
    fixture.turn(&mut state, "third").await.unwrap();
    fixture.turn(&mut state, "fourth").await.unwrap();
    assert_eq!(fixture.exchanges(&state).await.len(), 3);
}

#[tokio::test]
async fn a_fork_does_not_conflict_with_its_parent() {
    use memoir_store::Conversations as _;
    let fixture = Fixture::new().await;
    let mut parent = fixture.begun(&Gathering::new(1)).await;
    let id = parent.conversation.id().unwrap();
    let fork = fixture.store.fork(id, fixture.agent.clock.now()).await.unwrap().unwrap();
    let mut forked = parent.clone();
    forked.conversation = CurrentConversation::resume(&fixture.store, fork, "/p").await.unwrap();
    fixture.turn(&mut parent, "in the parent").await.unwrap();
    fixture.turn(&mut forked, "in the fork").await.unwrap();
    fixture.turn(&mut parent, "in the parent").await.unwrap();
    fixture.turn(&mut forked, "in the fork").await.unwrap();
}

#[tokio::test]
async fn the_origin_of_a_message_is_stored_and_not_read_from_its_text() {
    let fixture = Fixture::new().await;
    let mut state = fixture.begun(&Gathering::new(1)).await;
    let spelled_out = "look:\n<file path=\"a\">\nx\n</file>";
    let attached = TurnInput { parts: vec![InputPart::text("look:"), InputPart::file("a", "x")] };
    for (input, by_others) in [(TurnInput::from(spelled_out), false), (attached, true)] {
        let report = fixture.turn(&mut state, input).await.unwrap();
        let messages = fixture.store.exchange_messages(report.exchange_id).await.unwrap();
        assert_eq!(messages.iter().map(|message| message.by_others).collect::<Vec<_>>(), [by_others, false]);
    }
}
