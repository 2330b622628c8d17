//! An exchange while it happens, in memory alone.

use std::sync::{Arc, Mutex};

use memoir_core::{
    CallCost, DraftMessage, ExchangeDraft, ExchangeStatus, MessageBody, Provenance, Purpose, Recalled,
    Timestamp, TurnInput, Usd, Visibility, count_tokens, lock,
};
use memoir_models::{ChatModel, StopReason, ToolResult};

use crate::{ContextReport, reply::ModelReply};

/// An exchange while it happens.
pub(crate) struct Draft {
    exchange: ExchangeDraft,
    /// The call that is under way, as far as it has come.
    call: ModelReply,
    /// Why the model stopped last.
    stop: StopReason,
    /// How large the layers of the last request were, and the window's room.
    pub(crate) context: Option<ContextReport>,
    pub(crate) window_room: u64,
    /// What sub-agents called; of one that is cut off too.
    paid: Arc<Mutex<Vec<CallCost>>>,
}

impl Draft {
    pub(crate) fn begin(input: &TurnInput, model: &str, now: Timestamp) -> Self {
        let prompt = input.to_text();
        let exchange = ExchangeDraft {
            status: ExchangeStatus::Completed,
            started: now,
            completed: now,
            user_message: prompt.clone(),
            assistant_message: String::new(),
            model: model.to_owned(),
            messages: Vec::new(),
            calls: Vec::new(),
            recalled: Recalled::default(),
            tool_call_count: 0,
            error: None,
        };
        let mut draft = Self {
            exchange,
            call: ModelReply::default(),
            stop: StopReason::Done,
            context: None,
            window_room: 0,
            paid: Arc::default(),
        };
        draft.add(DraftMessage {
            by_others: input.has_words_of_others(),
            ..message(MessageBody::User { text: prompt }, Visibility::Shown, now)
        });
        draft
    }

    /// What was called so far.
    pub(crate) fn calls(&self) -> &[CallCost] {
        &self.exchange.calls
    }

    /// Where sub-agents put what they called.
    pub(crate) fn paid(&self) -> Arc<Mutex<Vec<CallCost>>> {
        Arc::clone(&self.paid)
    }

    /// Files what sub-agents called.
    fn take_paid(&mut self) {
        let paid = std::mem::take(&mut *lock(&self.paid));
        self.exchange.calls.extend(paid);
    }

    /// What they cost, as far as that is known.
    pub(crate) fn spent(&self) -> Usd {
        self.exchange.calls.iter().filter_map(|call| call.cost).sum()
    }

    /// The exchange, when it is over.
    pub(crate) fn finished(self) -> (ExchangeDraft, StopReason) {
        (self.exchange, self.stop)
    }

    /// Memory has put these into the exchange.
    pub(crate) fn recalled(&mut self, recalled: Recalled) {
        self.exchange.recalled = recalled;
    }

    /// Whether nothing was put before the model in this exchange but what the user said.
    pub(crate) fn has_only_the_users_words(&self) -> bool {
        self.exchange.recalled.is_empty() && !self.exchange.messages.iter().any(|message| message.by_others)
    }

    /// A call begins; what comes of it is gathered here.
    pub(crate) fn begin_call(&mut self) -> &mut ModelReply {
        self.call = ModelReply::default();
        &mut self.call
    }

    /// The call is over, one way or another. If anything of it has come, it was paid for, at a price that is
    /// unknown where the provider did not say what it used.
    pub(crate) fn end_call(&mut self, model: &dyn ChatModel, now: Timestamp) -> ModelReply {
        self.take_paid();
        let reply = std::mem::take(&mut self.call);
        self.stop = reply.stop.unwrap_or(self.stop);
        if reply.has_begun() {
            let unreported = || model.is_free().then_some(Usd::ZERO);
            self.exchange.calls.push(CallCost {
                purpose: Purpose::Chat,
                model: self.exchange.model.clone(),
                usage: reply.usage.unwrap_or_default(),
                cost: reply.usage.map_or_else(unreported, |usage| model.cost(&usage)),
                created: now,
            });
        }
        reply
    }

    /// Files a reply that asked for tools, and what they gave: kept, but not sent again later.
    pub(crate) fn tool_round(&mut self, reply: &ModelReply, results: &[ToolResult], now: Timestamp) {
        self.take_paid();
        let asked = MessageBody::Assistant { text: reply.text.clone(), tool_calls: reply.tool_calls.clone() };
        self.add(message(asked, Visibility::Redacted, now));
        for ToolResult { call_id, tool_name, text } in results.iter().cloned() {
            let by_others = MessageBody::is_result_by_others(&tool_name);
            let given = MessageBody::Tool { call_id, tool_name, text };
            self.add(DraftMessage { by_others, ..message(given, Visibility::Redacted, now) });
            self.exchange.tool_call_count += 1;
        }
    }

    pub(crate) fn complete(&mut self, answer: String, provenance: Provenance, now: Timestamp) {
        let body = MessageBody::Assistant { text: answer.clone(), tool_calls: Vec::new() };
        self.add(DraftMessage { provenance, ..message(body, Visibility::Shown, now) });
        self.exchange.assistant_message = answer;
        self.exchange.completed = now;
    }

    /// Ends without an answer. What the tools did has happened, so it is kept; the reason is a notice, not
    /// something that was said.
    pub(crate) fn stop(&mut self, reason: String, now: Timestamp) {
        self.exchange.status = ExchangeStatus::Stopped;
        self.exchange.error = Some(reason.clone());
        self.complete(reason, Provenance::Derived, now);
    }

    fn add(&mut self, message: DraftMessage) {
        self.exchange.messages.push(message);
    }
}

/// Returns a message that was said now by the user, the model or a tool.
fn message(body: MessageBody, visibility: Visibility, created: Timestamp) -> DraftMessage {
    DraftMessage {
        author: None,
        tokens: count_tokens(body.text()) as u64,
        body,
        visibility,
        provenance: Provenance::Said,
        by_others: false,
        created,
    }
}
