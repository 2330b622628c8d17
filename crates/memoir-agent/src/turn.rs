//! The turn: from a prompt to a committed exchange, or to nothing at all.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt as _;
use memoir_core::{Provenance, Recollection};
use memoir_models::{ChatMessage, ChatRequest, ModelError};
use memoir_recall::Asking;
use memoir_store::{CostSummary, Filter};
use tokio_util::sync::CancellationToken;

use crate::{
    Agent, CurrentConversation, Observer, TurnError, TurnEvent, TurnReport, context_document,
    draft::Draft,
    history,
    reply::{self, Reply},
    system_prompt::SYSTEM_PROMPT,
    tool_round,
};

/// What memory says comes within this, or not at all.
const RECALL_DEADLINE: Duration = Duration::from_secs(2);

impl Agent {
    /// Answers `prompt` in `conversation`. The exchange is drafted in memory and committed once, at the end;
    /// an error, a cancellation or a crash before that leaves no trace of it in memory. What it cost until
    /// then was paid, and goes on the bill.
    pub async fn run_turn(
        &self,
        conversation: &mut CurrentConversation,
        prompt: &str,
        observer: Observer<'_>,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        let mut draft = Draft::begin(prompt, self.model.name(), self.clock.now());
        let answered = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(TurnError::Cancelled),
            answered = self.answer(conversation, prompt, &mut draft, observer) => answered,
        };
        match answered {
            Ok(()) => self.commit(conversation, prompt, draft).await,
            Err(error) => {
                // A call that was cancelled in its middle is paid for as well.
                draft.end_call(self.model.as_ref(), self.clock.now());
                // The failure is what the user has to know; that its cost could not be noted is not.
                let _ = self.store.record_calls(conversation.id(), draft.calls()).await;
                Err(error)
            }
        }
    }

    /// Files the exchange. This takes a moment and cannot be cancelled: that would lose what was paid for.
    async fn commit(
        &self,
        conversation: &mut CurrentConversation,
        prompt: &str,
        draft: Draft,
    ) -> Result<TurnReport, TurnError> {
        let (draft, stop) = draft.finished();
        let committed = match self.store.commit_exchange(&conversation.target(prompt), &draft).await {
            Ok(committed) => committed,
            Err(source) => return Err(TurnError::NotKept { answer: draft.assistant_message, source }),
        };
        conversation.committed_as(committed.conversation_id);
        // So that the next prompt can find it, whether memory is asked by itself now or not. What fails here is found by
        // its words, and embedded later.
        let recall = &self.tool_context.recall;
        let _ = recall.embed_exchange(committed.exchange_id).await;
        let _ = recall.catch_up().await;
        // The exchange is kept; a sum that cannot be read now is no reason to say otherwise.
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
            conversation_cost: conversation_cost.unwrap_or_else(|_| CostSummary::default()),
            text: draft.assistant_message,
            recalled: draft.recalled,
            model: draft.model,
        })
    }

    /// Talks to the model until it has answered.
    async fn answer(
        &self,
        conversation: &CurrentConversation,
        prompt: &str,
        draft: &mut Draft,
        observer: Observer<'_>,
    ) -> Result<(), TurnError> {
        let history = match conversation.id() {
            Some(id) => history::rebuild(self.store.messages(id, self.limits.history_exchanges).await?),
            None => Vec::new(),
        };
        let memory = self.recalled(conversation, prompt, observer).await;
        // The one model that answers with memory is handed it; the others read it before the user's words.
        let said = match self.model.provenance() {
            Provenance::Derived => prompt.to_owned(),
            Provenance::Said => context_document::write(prompt, &memory, self.scope(), &self.zone),
        };
        let mut request = ChatRequest {
            system: SYSTEM_PROMPT.to_owned(),
            stable_messages: history.len(),
            messages: history,
            tools: self.tools.specs(),
            memory: memory.clone(),
        };
        request.messages.push(ChatMessage::User(said));
        draft.recalled(memory.passages);

        for _ in 0..self.limits.max_turns {
            let reply = self.reply(&mut request, draft, observer).await?;
            if reply.tool_calls.is_empty() {
                draft.complete(reply.text, self.model.provenance(), self.clock.now());
                return Ok(());
            }
            let results = tool_round::run(self, &reply.tool_calls, observer).await;
            draft.tool_round(&reply, &results, self.clock.now());
            let Reply { text, tool_calls, replay, .. } = reply;
            request.messages.push(ChatMessage::Assistant { text, tool_calls, replay });
            request.messages.push(ChatMessage::ToolResults(results));
        }

        let reason =
            format!("Stopped after {} rounds of tool calls without an answer.", self.limits.max_turns);
        draft.stop(reason, self.clock.now());
        Ok(())
    }

    fn scope(&self) -> Option<&str> {
        self.recall.as_ref()?.scope.as_deref()
    }

    /// What memory says about the prompt. What is late or fails is left out and said so: recall never breaks a turn.
    async fn recalled(
        &self,
        conversation: &CurrentConversation,
        prompt: &str,
        observer: Observer<'_>,
    ) -> Recollection {
        let Some(recall) = &self.recall else { return Recollection::default() };
        let elsewhere = Filter { except: conversation.id(), ..Filter::default() };
        // Not even a fault of ours in there may cost the user an answer.
        let asked = AssertUnwindSafe(recall.ask(prompt, Asking::Prompt, elsewhere)).catch_unwind();
        let recollection = match tokio::time::timeout(RECALL_DEADLINE, asked).await {
            Ok(Ok(recollection)) => recollection,
            Ok(Err(_)) => {
                observer(TurnEvent::Notice("Asking memory crashed; it was left out.".into()));
                return Recollection::default();
            }
            Err(_) => {
                observer(TurnEvent::Notice("Memory took too long and was left out.".into()));
                return Recollection::default();
            }
        };
        for notice in &recollection.notices {
            observer(TurnEvent::Notice(notice.clone()));
        }
        recollection
    }

    /// One reply. When the model says that it was sent too much, the older half of the history is left out and
    /// it is asked once more.
    async fn reply(
        &self,
        request: &mut ChatRequest,
        draft: &mut Draft,
        observer: Observer<'_>,
    ) -> Result<Reply, TurnError> {
        match self.ask(request, draft, observer).await {
            Err(ModelError::ContextTooLong { message }) => {
                if !history::drop_older_half(request) {
                    return Err(ModelError::ContextTooLong { message }.into());
                }
                let notice = "The conversation is too long for this model; its older half was left out.";
                observer(TurnEvent::Notice(notice.into()));
                Ok(self.ask(request, draft, observer).await?)
            }
            asked => Ok(asked?),
        }
    }

    /// One call. It is noted in the draft as soon as anything of it has come, whether it succeeds or not.
    async fn ask(
        &self,
        request: &ChatRequest,
        draft: &mut Draft,
        observer: Observer<'_>,
    ) -> Result<Reply, ModelError> {
        let asked = reply::ask(self.model.as_ref(), request.clone(), draft.begin_call(), observer).await;
        let reply = draft.end_call(self.model.as_ref(), self.clock.now());
        asked.map(|()| reply)
    }
}
