//! The turn: from a prompt to a committed exchange, or to nothing at all.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use memoir_core::{CallCost, ConversationId, TurnInput};
use memoir_models::{ChatMessage, ModelError};
use memoir_store::{Committed, CostSummary, StoreError};
use tokio_util::sync::CancellationToken;

use crate::{
    Agent, AgentState, ContextReport, Observer, TurnError, TurnEvent, TurnReport,
    active_turn::ActiveTurn,
    context::{BuiltFor, Context, Notices},
    draft::Draft,
    reply::{self, ModelReply},
    tool_round::{self, CallContext},
};

/// How long the vectors of an exchange are waited for.
const EMBEDDING_PATIENCE: Duration = Duration::from_secs(3);

impl Agent {
    /// Answers `input` in the conversation of `state`.
    ///
    /// The exchange is drafted in memory and committed once, at the end. An error, a cancellation or a crash before that
    /// leaves no trace of it in the store but the cost of the calls that were made. `observer` receives every event; cancel
    /// the turn with `cancel`, which has no effect once the commit has begun.
    ///
    /// # Errors
    ///
    /// See [`TurnError`]. [`TurnError::NotKept`] and [`TurnError::Conflict`] carry the answer, because it was paid for.
    pub async fn run_turn(
        self: &Arc<Self>,
        state: &mut AgentState,
        input: impl Into<TurnInput> + Send,
        observer: Observer<'_>,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        self.run_boxed(state, input.into(), observer, cancel).await
    }

    /// Boxes the turn: every crate that awaits a plain future compiles it again.
    fn run_boxed<'a>(
        self: &'a Arc<Self>,
        state: &'a mut AgentState,
        input: TurnInput,
        observer: Observer<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<TurnReport, TurnError>> {
        Box::pin(self.run(state, input, observer, cancel))
    }

    async fn run(
        self: &Arc<Self>,
        state: &mut AgentState,
        input: TurnInput,
        observer: Observer<'_>,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        let prompt = &input.to_text();
        let mut draft = Draft::begin(&input, state.model.name(), self.clock.now());
        let turn = ActiveTurn { agent: self, state };
        let answered = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(TurnError::Cancelled),
            answered = turn.answer(prompt, &mut draft, observer) => answered,
        };
        match answered {
            Ok(()) => self.commit(state, prompt, draft).await,
            Err(error) => {
                // A call that was cancelled in its middle is paid for as well.
                draft.end_call(state.model.as_ref(), self.clock.now());
                self.record_calls(state.conversation.id(), draft.calls()).await;
                Err(error)
            }
        }
    }

    /// Records what the calls of a failed turn cost. The failure is what the user has to know, so an error here is only logged.
    async fn record_calls(&self, conversation: Option<ConversationId>, calls: &[CallCost]) {
        if let Err(error) = self.store.record_calls(conversation, calls).await {
            tracing::warn!(%error, "could not record the cost of a failed turn");
        }
    }

    /// Files the exchange. This takes a moment and cannot be cancelled: that would lose what was paid for.
    async fn commit(
        self: &Arc<Self>,
        state: &mut AgentState,
        prompt: &str,
        mut draft: Draft,
    ) -> Result<TurnReport, TurnError> {
        let (window_room, context) = (draft.window_room, draft.context.take());
        let (draft, stop) = draft.finished();
        let committed = match self.store.commit_exchange(&state.conversation.target(prompt), &draft).await {
            Ok(committed) => committed,
            Err(StoreError::Conflict { conversation, .. }) => {
                // Without the exchange they have no other place, and they were paid for.
                self.record_calls(Some(conversation), &draft.calls).await;
                return Err(TurnError::Conflict { conversation, answer: Some(draft.assistant_message) });
            }
            Err(source) => return Err(TurnError::NotKept { answer: draft.assistant_message, source }),
        };
        state.conversation.record_commit(committed);
        self.follow_up(state, committed, window_room).await;
        let conversation_cost = self.store.conversation_cost(committed.conversation_id).await;
        Ok(TurnReport {
            conversation_id: committed.conversation_id,
            exchange_id: committed.exchange_id,
            status: draft.status,
            stop,
            usage: draft.usage(),
            cost: draft.cost(),
            request_count: draft.calls.len() as u64,
            tool_call_count: draft.tool_call_count,
            duration_ms: draft.completed.millis_since(draft.started),
            conversation_cost: conversation_cost.unwrap_or_else(|error| {
                // The exchange is stored. A sum that cannot be read is no reason to report otherwise.
                tracing::warn!(%error, "could not read the cost of the conversation");
                CostSummary::default()
            }),
            text: draft.assistant_message,
            recalled: draft.recalled,
            context,
            model: draft.model,
        })
    }

    /// Embeds the exchange and asks for a digest. The exchange is stored already, so errors are only logged.
    async fn follow_up(&self, state: &AgentState, committed: Committed, window_room: u64) {
        // The next prompt can then find the exchange, whether recall is on or not.
        if state.embeds_at_once {
            let embedding = state.recall.embed_exchange(committed.exchange_id);
            match tokio::time::timeout(EMBEDDING_PATIENCE, embedding).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => {
                    tracing::warn!(%error, "could not embed the exchange; keyword search finds it until a worker does");
                }
                Err(_) => {
                    tracing::debug!(
                        "embedding the exchange took too long; keyword search finds it until a worker does"
                    );
                }
            }
        }
        if state.asks_for_digests
            && let Err(error) = self.ask_for_digest(committed.conversation_id, window_room).await
        {
            tracing::warn!(%error, "could not ask for a digest; an extract is sent in its place");
        }
    }

    /// Returns the sizes that the layers would have if this prompt were sent now.
    ///
    /// # Errors
    ///
    /// Fails if the conversation cannot be read.
    pub async fn preview(
        self: &Arc<Self>,
        state: &AgentState,
        prompt: &str,
    ) -> Result<ContextReport, TurnError> {
        let turn = ActiveTurn { agent: self, state };
        let context = turn.build_context(prompt, BuiltFor::Looking, &mut Notices::default()).await?;
        Ok(context.report)
    }
}

impl ActiveTurn<'_> {
    /// Talks to the model until it has answered.
    pub(crate) async fn answer(
        self,
        prompt: &str,
        draft: &mut Draft,
        observer: Observer<'_>,
    ) -> Result<(), TurnError> {
        let mut notices = Notices::default();
        let mut context = self.build_context(prompt, BuiltFor::Sending, &mut notices).await?;
        self.report_notices(notices, observer);
        draft.recalled(std::mem::take(&mut context.recalled));
        draft.window_room = context.window_room;

        for _ in 0..self.agent.limits.max_turns {
            let reply = self.reply(&mut context, draft, observer).await?;
            draft.context = Some(context.report.clone());
            if reply.tool_calls.is_empty() {
                draft.complete(reply.text, self.state.model.provenance(), self.agent.clock.now());
                return Ok(());
            }
            if let Some(budget) = self.agent.limits.budget.filter(|budget| draft.spent() >= *budget) {
                draft.stop(format!("Stopped: what it may cost ({budget}) is spent."), self.agent.clock.now());
                return Ok(());
            }
            let paid = draft.paid();
            let by_the_user_alone = !context.by_others && draft.has_only_the_users_words();
            let context_of_calls = CallContext { turn: self, by_the_user_alone };
            let results = tool_round::run(context_of_calls, &reply.tool_calls, &paid, observer).await;
            draft.tool_round(&reply, &results, self.agent.clock.now());
            let ModelReply { text, tool_calls, replay, .. } = reply;
            let asked = ChatMessage::Assistant { text, tool_calls, replay };
            for notice in context.add_round(asked, results) {
                observer(TurnEvent::Notice(notice));
            }
        }

        let reason =
            format!("Stopped after {} rounds of tool calls without an answer.", self.agent.limits.max_turns);
        draft.stop(reason, self.agent.clock.now());
        Ok(())
    }

    /// Passes the notices about a context to the observer.
    fn report_notices(self, notices: Notices, observer: Observer<'_>) {
        notices.important.into_iter().for_each(|notice| observer(TurnEvent::Notice(notice)));
        for notice in notices.lasting {
            if self.state.mark_shown(&notice) {
                observer(TurnEvent::Notice(notice));
            }
        }
        notices.details.into_iter().for_each(|detail| observer(TurnEvent::Detail(detail)));
    }

    /// One reply. When the model says that it was sent too much, the older half of the window is left out and it is asked
    /// once more; the next turn sends less from the start.
    async fn reply(
        self,
        context: &mut Context,
        draft: &mut Draft,
        observer: Observer<'_>,
    ) -> Result<ModelReply, TurnError> {
        match self.ask(context, draft, observer).await {
            Err(ModelError::ContextTooLong { message }) => {
                if !context.drop_older_half() {
                    return Err(ModelError::ContextTooLong { message }.into());
                }
                let notice = "The conversation is too long for this model; its older half was left out.";
                observer(TurnEvent::Notice(notice.into()));
                Ok(self.ask(context, draft, observer).await?)
            }
            asked => Ok(asked?),
        }
    }

    /// One call. It is noted in the draft as soon as anything of it has come, whether it succeeds or not; what is too much
    /// for the model is remembered.
    async fn ask(
        self,
        context: &Context,
        draft: &mut Draft,
        observer: Observer<'_>,
    ) -> Result<ModelReply, ModelError> {
        let request = context.request.clone();
        let asked = reply::ask(self.state.model.as_ref(), request, draft.begin_call(), observer).await;
        let reply = draft.end_call(self.state.model.as_ref(), self.agent.clock.now());
        if matches!(asked, Err(ModelError::ContextTooLong { .. })) {
            self.state.learn_limit(context.total());
        }
        asked.map(|()| reply)
    }
}
