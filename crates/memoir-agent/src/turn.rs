//! Runs a turn: from a prompt to a committed exchange, or to an error that leaves nothing in the store but the costs.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use memoir_core::{CallCost, ConversationId, Provenance, TurnInput};
use memoir_models::{ChatMessage, ModelError};
use memoir_store::{CommittedExchange, CostSummary, StoreError};
use tokio_util::sync::CancellationToken;

use crate::{
    Agent, AgentState, ContextReport, Observer, TurnError, TurnEvent, TurnReport,
    active_turn::ActiveTurn,
    context::{BuildPurpose, Context, Notices, Prompt},
    draft::Draft,
    reply::{self, ModelReply},
    tool_round::{self, CallContext},
};

/// Maximum size of a prompt in bytes, including attached files. It is far more than models read.
pub const MAX_PROMPT_BYTES: usize = 2_000_000;

/// How often a request that is too long is shortened.
const MAX_SHORTENINGS: usize = 3;

/// Time limit for embedding an exchange at the end of its turn.
const EMBEDDING_TIMEOUT: Duration = Duration::from_secs(3);

impl Agent {
    /// Answers `input` in the conversation of `state`.
    ///
    /// The exchange is drafted in memory and committed once, at the end. If the turn fails or is cancelled before
    /// that, only the costs of its model calls are stored. `observer` receives every event. `cancel` cancels the
    /// turn, unless the commit has begun.
    ///
    /// # Errors
    ///
    /// See [`TurnError`]. [`TurnError::NotStored`] and [`TurnError::Conflict`] contain the answer, because it has been
    /// paid for.
    pub async fn run_turn(
        self: &Arc<Self>,
        state: &mut AgentState,
        input: impl Into<TurnInput> + Send,
        observer: Observer<'_>,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        self.run_boxed(state, input.into(), observer, cancel).await
    }

    /// Boxes the turn, because every crate that awaits an unboxed future compiles it again.
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
        if prompt.len() > MAX_PROMPT_BYTES {
            return Err(TurnError::PromptTooLong);
        }
        let mut draft = Draft::new(&input, state.model.name(), self.clock.now());
        if state.model.provenance() == Provenance::Derived && memoir_recall::is_lookup(prompt) {
            draft.mark_prompt_as_lookup();
        }
        let turn = ActiveTurn { agent: self, state };
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(TurnError::Cancelled),
            result = turn.answer(Prompt::new(prompt, &input), &mut draft, observer) => result,
        };
        match result {
            Ok(()) => self.commit(state, &input, draft).await,
            Err(error) => {
                // A call that was interrupted is billed too.
                draft.end_call(state.model.as_ref(), self.clock.now());
                self.record_calls(state.conversation.id(), draft.calls()).await;
                Err(error)
            }
        }
    }

    /// Records the costs of a failed turn. An error here is only logged, because the user needs to see why the turn
    /// failed.
    async fn record_calls(&self, conversation: Option<ConversationId>, calls: &[CallCost]) {
        if let Err(error) = self.store.record_calls(conversation, calls).await {
            tracing::warn!(%error, "could not record the cost of a failed turn");
        }
    }

    /// Stores the exchange. This cannot be cancelled, because that would lose an answer that has been paid for.
    async fn commit(
        self: &Arc<Self>,
        state: &mut AgentState,
        input: &TurnInput,
        mut draft: Draft,
    ) -> Result<TurnReport, TurnError> {
        let (window_room, context) = (draft.window_room, draft.context.take());
        let (draft, stop) = draft.finish();
        let target = state.conversation.target(&input.to_text());
        let committed = match self.store.commit_exchange(&target, &draft).await {
            Ok(committed) => committed,
            Err(StoreError::Conflict { conversation, .. }) => {
                // The calls have been billed, and there is no exchange to record them with.
                self.record_calls(Some(conversation), &draft.calls).await;
                return Err(TurnError::Conflict { conversation, answer: Some(draft.assistant_message) });
            }
            Err(source) => return Err(TurnError::NotStored { answer: draft.assistant_message, source }),
        };
        state.conversation.record_commit(committed);
        state.images.keep(committed.exchange_id, input.images.clone());
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
                // The exchange is stored, so the turn succeeded even if its total cost cannot be read.
                tracing::warn!(%error, "could not read the cost of the conversation");
                CostSummary::default()
            }),
            text: draft.assistant_message,
            recalled: draft.recalled,
            context,
            model: draft.model,
        })
    }

    /// Embeds the exchange and requests a digest. The exchange is stored already, so errors are only logged.
    async fn follow_up(&self, state: &AgentState, committed: CommittedExchange, window_room: u64) {
        // Embed even if recall is off, so that tools can find the exchange.
        if state.embeds_immediately {
            let embedding = state.recall.embed_exchange(committed.exchange_id);
            match tokio::time::timeout(EMBEDDING_TIMEOUT, embedding).await {
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
        if state.requests_digests
            && let Err(error) = self.request_digest(committed.conversation_id, window_room).await
        {
            tracing::warn!(%error, "could not request a digest; requests will contain an extract instead");
        }
    }

    /// Returns the sizes that the context layers would have if `prompt` were sent now. Nothing is sent or stored.
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
        let context =
            turn.build_context(Prompt::text(prompt), BuildPurpose::Preview, &mut Notices::default()).await?;
        Ok(context.report)
    }
}

impl Agent {
    /// Requests the summary for [`Self::compact`]. Returns whether one is needed.
    ///
    /// # Errors
    ///
    /// Fails if the conversation cannot be read.
    pub async fn request_compact_summary(self: &Arc<Self>, state: &AgentState) -> Result<bool, TurnError> {
        ActiveTurn { agent: self, state }.request_compact_summary().await
    }

    /// Replaces all exchanges but the last with a summary in later requests. Returns `false` if there is only one.
    ///
    /// # Errors
    ///
    /// Fails if the conversation cannot be read, or if another session has added to it.
    pub async fn compact(self: &Arc<Self>, state: &AgentState) -> Result<bool, TurnError> {
        ActiveTurn { agent: self, state }.compact().await
    }
}

impl ActiveTurn<'_> {
    /// Asks the model, and runs the tools it calls, until it answers or a limit is reached.
    pub(crate) async fn answer(
        self,
        prompt: Prompt<'_>,
        draft: &mut Draft,
        observer: Observer<'_>,
    ) -> Result<(), TurnError> {
        let mut context = self.prepare(prompt, draft, observer).await?;
        for _ in 0..self.agent.limits.max_turns {
            let reply = self.reply(prompt, &mut context, draft, observer).await?;
            draft.context = Some(context.report.clone());
            if reply.tool_calls.is_empty() {
                draft.complete(reply.text, self.state.model.provenance(), self.agent.clock.now());
                return Ok(());
            }
            if let Some(budget) = self.agent.limits.budget.filter(|budget| draft.known_cost() >= *budget) {
                let reason = format!("Stopped: the budget of {budget} has been used up.");
                draft.stop(reason, self.agent.clock.now());
                return Ok(());
            }
            let subagent_calls = draft.subagent_calls();
            let call_context = CallContext { turn: self, is_user_only: draft.has_only_user_text() };
            let results = tool_round::run(call_context, &reply.tool_calls, &subagent_calls, observer).await;
            draft.add_tool_round(&reply, &results, self.agent.clock.now());
            let ModelReply { text, tool_calls, replay, .. } = reply;
            let request = ChatMessage::Assistant { text, tool_calls, replay };
            for notice in context.add_round(request, results) {
                observer(TurnEvent::Notice(notice));
            }
        }

        let rounds = match self.agent.limits.max_turns {
            1 => "1 round".to_owned(),
            count => format!("{count} rounds"),
        };
        let reason = format!("Stopped after {rounds} of tool calls without an answer.");
        draft.stop(reason, self.agent.clock.now());
        Ok(())
    }

    /// Builds the context of the first request.
    async fn prepare(
        self,
        prompt: Prompt<'_>,
        draft: &mut Draft,
        observer: Observer<'_>,
    ) -> Result<Context, TurnError> {
        let mut notices = Notices::default();
        let mut context = self.build_context(prompt, BuildPurpose::Send, &mut notices).await?;
        self.report_notices(notices, observer);
        draft.set_recalled(std::mem::take(&mut context.recalled));
        draft.window_room = context.window_room;
        if context.has_untrusted_text {
            draft.mark_untrusted_context();
        }
        Ok(context)
    }

    fn report_notices(self, notices: Notices, observer: Observer<'_>) {
        notices.important.into_iter().for_each(|notice| observer(TurnEvent::Notice(notice)));
        for notice in notices.recurring {
            if self.state.mark_shown(&notice) {
                observer(TurnEvent::Notice(notice));
            }
        }
        notices.details.into_iter().for_each(|detail| observer(TurnEvent::Detail(detail)));
    }

    /// Requests one reply. If the model rejects the request as too long, sends a shorter one, and if it rejects images,
    /// one without them. The next turn does so from the start.
    async fn reply(
        self,
        prompt: Prompt<'_>,
        context: &mut Context,
        draft: &mut Draft,
        observer: Observer<'_>,
    ) -> Result<ModelReply, TurnError> {
        for _ in 0..MAX_SHORTENINGS {
            let error = match self.ask(context, draft, observer).await {
                Err(ModelError::ImagesRejected { .. }) if context.drop_images() => {
                    self.state.learn_blindness();
                    observer(TurnEvent::Notice(self.describe_blindness()));
                    continue;
                }
                // The message is about something else, for example the name of a model.
                Err(ModelError::ImagesRejected { status, message }) => {
                    return Err(ModelError::BadRequest { status, message }.into());
                }
                Err(error @ ModelError::ContextTooLong { .. }) => error,
                result => return Ok(result?),
            };
            let before = context.total();
            if context.has_tool_rounds() {
                let notice = context.lower_limit(&self.state.context, self.state.learned_limit());
                notice.into_iter().for_each(|notice| observer(TurnEvent::Notice(notice)));
            } else {
                *context = self.prepare(prompt, draft, observer).await?;
            }
            if context.total() >= before {
                return Err(error.into());
            }
            let notice = "The request was too long for this model, so a shorter one was sent.";
            observer(TurnEvent::Notice(notice.into()));
        }
        Ok(self.ask(context, draft, observer).await?)
    }

    /// Calls the model once. The draft records the call if any part of the reply was received, even if it failed. If
    /// the request was too long, the model's limit is recorded.
    async fn ask(
        self,
        context: &Context,
        draft: &mut Draft,
        observer: Observer<'_>,
    ) -> Result<ModelReply, ModelError> {
        let request = context.request.clone();
        let result = reply::ask(self.state.model.as_ref(), request, draft.begin_call(), observer).await;
        let reply = draft.end_call(self.state.model.as_ref(), self.agent.clock.now());
        if let Err(ModelError::ContextTooLong { limit, .. }) = &result {
            self.state.learn_limit(context.total(), *limit);
        }
        result.map(|()| reply)
    }
}
