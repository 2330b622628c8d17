//! Tests several sessions on one agent: concurrent turns, and commits to the same conversation.

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

/// A model that answers only when a given number of turns wait for it, which proves that they run concurrently.
struct BarrierModel {
    turns: Barrier,
    calls: AtomicUsize,
}

impl BarrierModel {
    fn new(turns: usize) -> Arc<Self> {
        Arc::new(Self { turns: Barrier::new(turns), calls: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl ChatModel for BarrierModel {
    fn name(&self) -> &str {
        "test/barrier"
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

    fn session(&self, model: &Arc<BarrierModel>, conversation: CurrentConversation) -> AgentState {
        let model = Arc::clone(model) as Arc<dyn ChatModel>;
        let mut state = AgentState::new(model, ToolSet::all(), self.recall.clone(), conversation);
        state.tools = Arc::new(ToolSet::new(Vec::new()));
        state
    }

    /// Returns a session after its first turn.
    async fn session_after_turn(&self, model: &Arc<BarrierModel>) -> AgentState {
        let mut state = self.session(model, CurrentConversation::new("/p"));
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
async fn two_sessions_run_turns_concurrently() {
    let fixture = Fixture::new().await;
    let model = BarrierModel::new(2);
    let mut first_session = fixture.session(&model, CurrentConversation::new("/p"));
    let mut second_session = fixture.session(&model, CurrentConversation::new("/q"));
    let (first, second) =
        tokio::join!(fixture.turn(&mut first_session, "hi"), fixture.turn(&mut second_session, "hello"));
    assert_ne!(first.unwrap().conversation_id, second.unwrap().conversation_id);
}

#[tokio::test]
async fn the_second_commit_to_a_conversation_conflicts() {
    let fixture = Fixture::new().await;
    let mut first_session = fixture.session_after_turn(&BarrierModel::new(1)).await;
    let mut second_session = first_session.clone();
    let shared_model = BarrierModel::new(2);
    (first_session.model, second_session.model) =
        (Arc::clone(&shared_model) as Arc<dyn ChatModel>, Arc::clone(&shared_model) as Arc<dyn ChatModel>);
    let (first, second) =
        tokio::join!(fixture.turn(&mut first_session, "mine"), fixture.turn(&mut second_session, "yours"));
    let (committed, conflict, mut stale) = match (first, second) {
        (Ok(report), Err(error)) => (report, error, second_session),
        (Err(error), Ok(report)) => (report, error, first_session),
        both => panic!("exactly one turn must conflict: {both:?}"),
    };
    let TurnError::Conflict { conversation, answer } = conflict else { panic!("{conflict:?}") };
    assert_eq!((conversation, answer.as_deref()), (committed.conversation_id, Some("an answer")));

    // Only the cost of the rejected turn is stored.
    let exchanges = fixture.exchanges(&stale).await;
    assert_eq!((exchanges.len(), exchanges.last()), (2, Some(&committed.exchange_id)));
    assert_eq!(fixture.store.conversation_cost(conversation).await.unwrap().calls, 3);

    // Until the session reads the new exchange, its turns fail before the model is asked.
    let model = BarrierModel::new(1);
    stale.model = Arc::clone(&model) as Arc<dyn ChatModel>;
    let result = fixture.turn(&mut stale, "yours").await;
    assert!(matches!(result, Err(TurnError::Conflict { answer: None, .. })), "{result:?}");
    assert_eq!(model.calls.load(Ordering::Relaxed), 0);
    stale.conversation = CurrentConversation::resume(&fixture.store, conversation, "/p").await.unwrap();
    fixture.turn(&mut stale, "yours").await.unwrap();
    assert_eq!(fixture.exchanges(&stale).await.len(), 3);
}

#[tokio::test]
async fn replacing_an_exchange_can_conflict_too() {
    let fixture = Fixture::new().await;
    let mut first_session = fixture.session_after_turn(&BarrierModel::new(1)).await;
    let mut second_session = first_session.clone();
    fixture.turn(&mut first_session, "second").await.unwrap();
    let before = fixture.exchanges(&first_session).await;
    for exchange in &before {
        second_session.conversation.replace(Some(*exchange));
        let result = fixture.turn(&mut second_session, "again").await;
        assert!(matches!(result, Err(TurnError::Conflict { .. })), "{result:?}");
    }
    assert_eq!(fixture.exchanges(&first_session).await, before, "nothing was replaced");
    first_session.conversation.replace(before.last().copied());
    fixture.turn(&mut first_session, "again").await.unwrap();
    assert_eq!(fixture.exchanges(&first_session).await.len(), 2);
}

#[tokio::test]
async fn deleting_the_last_exchange_is_not_a_conflict() {
    let fixture = Fixture::new().await;
    let mut state = fixture.session_after_turn(&BarrierModel::new(1)).await;
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
    let mut parent = fixture.session_after_turn(&BarrierModel::new(1)).await;
    let id = parent.conversation.id().unwrap();
    let fork = fixture.store.fork(id, fixture.agent.clock.now()).await.unwrap().unwrap();
    let mut fork_session = parent.clone();
    fork_session.conversation = CurrentConversation::resume(&fixture.store, fork, "/p").await.unwrap();
    fixture.turn(&mut parent, "in the parent").await.unwrap();
    fixture.turn(&mut fork_session, "in the fork").await.unwrap();
    fixture.turn(&mut parent, "in the parent").await.unwrap();
    fixture.turn(&mut fork_session, "in the fork").await.unwrap();
}

#[tokio::test]
async fn the_origin_of_a_message_is_stored_and_not_inferred_from_its_text() {
    let fixture = Fixture::new().await;
    let mut state = fixture.session_after_turn(&BarrierModel::new(1)).await;
    let typed_tag = "look:\n<file path=\"a\">\nx\n</file>";
    let attachment = TurnInput {
        parts: vec![InputPart::text("look:"), InputPart::file("a", "x")],
        ..TurnInput::default()
    };
    for (input, by_others) in [(TurnInput::from(typed_tag), false), (attachment, true)] {
        let report = fixture.turn(&mut state, input).await.unwrap();
        let messages = fixture.store.exchange_messages(report.exchange_id).await.unwrap();
        // The answer may repeat what the model has read.
        assert_eq!(messages.iter().map(|message| message.by_others).collect::<Vec<_>>(), [by_others; 2]);
    }
}
