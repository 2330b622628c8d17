//! The turn: from a prompt to a committed exchange, or to nothing at all.

use memoir_core::{
    CallCost, DraftMessage, ExchangeDraft, ExchangeStatus, MessageBody, Provenance, Purpose, Timestamp,
    Visibility, count_tokens,
};
use memoir_models::{ChatMessage, ChatRequest, ToolResult};
use tokio_util::sync::CancellationToken;

use crate::{
    Agent, CurrentConversation, Observer, TurnError, TurnEvent, TurnReport, history,
    reply::{self, Reply},
    system_prompt::SYSTEM_PROMPT,
    tool_round,
};

impl Agent {
    /// Answers `prompt` in `conversation`. The exchange is drafted in memory and committed once, at the end;
    /// an error, a cancellation or a crash before that leaves no trace of it.
    pub async fn run_turn(
        &self,
        conversation: &mut CurrentConversation,
        prompt: &str,
        observer: Observer<'_>,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        let draft = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(TurnError::Cancelled),
            drafted = self.draft_exchange(conversation, prompt, observer) => drafted?,
        };
        // From here on it takes a moment, and cancelling would lose what was paid for.
        let committed = self
            .store
            .commit_exchange(&conversation.target(prompt), &draft)
            .await?;
        conversation.committed_as(committed.conversation_id);
        Ok(TurnReport {
            conversation_id: committed.conversation_id,
            exchange_id: committed.exchange_id,
            usage: draft.usage(),
            cost: draft.cost(),
            request_count: draft.calls.len() as u64,
            tool_call_count: draft.tool_call_count,
            duration_ms: draft.completed.millis_since(draft.started),
            conversation_cost: self.store.conversation_cost(committed.conversation_id).await?,
            text: draft.assistant_message,
            model: draft.model,
        })
    }

    /// Talks to the model until it has answered.
    async fn draft_exchange(
        &self,
        conversation: &CurrentConversation,
        prompt: &str,
        observer: Observer<'_>,
    ) -> Result<ExchangeDraft, TurnError> {
        let mut messages = match conversation.id() {
            Some(id) => history::rebuild(self.store.messages(id, self.limits.history_exchanges).await?),
            None => Vec::new(),
        };
        messages.push(ChatMessage::User(prompt.to_owned()));
        let tools = self.tools.specs();
        let mut draft = Draft::begin(prompt, self.model.name(), self.clock.now());

        for _ in 0..self.limits.max_turns {
            let request = ChatRequest {
                system: SYSTEM_PROMPT.to_owned(),
                messages: messages.clone(),
                tools: tools.clone(),
            };
            let reply = reply::ask(self.model.as_ref(), request, observer).await?;
            draft.count_call(self.model.cost(&reply.usage), &reply, self.clock.now());
            if reply.tool_calls.is_empty() {
                return Ok(draft.complete(reply.text, self.model.provenance(), self.clock.now()));
            }
            let results = tool_round::run(self, &reply.tool_calls, observer).await;
            draft.tool_round(&reply, &results, self.clock.now());
            let Reply {
                text,
                thinking,
                tool_calls,
                ..
            } = reply;
            messages.push(ChatMessage::Assistant {
                thinking,
                text,
                tool_calls,
            });
            messages.push(ChatMessage::ToolResults(results));
        }

        let reason = format!(
            "Stopped after {} rounds of tool calls without an answer.",
            self.limits.max_turns
        );
        observer(TurnEvent::Notice(reason.clone()));
        Ok(draft.stop(reason, self.clock.now()))
    }
}

/// An exchange while it happens.
struct Draft(ExchangeDraft);

impl Draft {
    fn begin(prompt: &str, model: &str, now: Timestamp) -> Self {
        let mut draft = Self(ExchangeDraft {
            status: ExchangeStatus::Completed,
            started: now,
            completed: now,
            user_message: prompt.to_owned(),
            assistant_message: String::new(),
            model: model.to_owned(),
            messages: Vec::new(),
            calls: Vec::new(),
            tool_call_count: 0,
            error: None,
        });
        draft.add(
            MessageBody::User {
                text: prompt.to_owned(),
            },
            Visibility::Shown,
            Provenance::Said,
            now,
        );
        draft
    }

    fn add(&mut self, body: MessageBody, visibility: Visibility, provenance: Provenance, created: Timestamp) {
        let tokens = count_tokens(body.text()) as u64;
        self.0.messages.push(DraftMessage {
            body,
            visibility,
            provenance,
            tokens,
            created,
        });
    }

    fn count_call(&mut self, cost: Option<memoir_core::Usd>, reply: &Reply, now: Timestamp) {
        self.0.calls.push(CallCost {
            purpose: Purpose::Chat,
            model: self.0.model.clone(),
            usage: reply.usage,
            cost,
            created: now,
        });
    }

    /// Files a reply that asked for tools, and what they gave: kept, but not sent again later.
    fn tool_round(&mut self, reply: &Reply, results: &[ToolResult], now: Timestamp) {
        let asked = MessageBody::Assistant {
            text: reply.text.clone(),
            tool_calls: reply.tool_calls.clone(),
        };
        self.add(asked, Visibility::Redacted, Provenance::Said, now);
        for ToolResult {
            call_id,
            tool_name,
            text,
        } in results.iter().cloned()
        {
            let given = MessageBody::Tool {
                call_id,
                tool_name,
                text,
            };
            self.add(given, Visibility::Redacted, Provenance::Said, now);
            self.0.tool_call_count += 1;
        }
    }

    fn complete(mut self, answer: String, provenance: Provenance, now: Timestamp) -> ExchangeDraft {
        let body = MessageBody::Assistant {
            text: answer.clone(),
            tool_calls: Vec::new(),
        };
        self.add(body, Visibility::Shown, provenance, now);
        self.0.assistant_message = answer;
        self.0.completed = now;
        self.0
    }

    /// Ends without an answer. What the tools did has happened, so it is kept.
    fn stop(mut self, reason: String, now: Timestamp) -> ExchangeDraft {
        self.0.status = ExchangeStatus::Stopped;
        self.0.error = Some(reason.clone());
        self.complete(reason, Provenance::Said, now)
    }
}
