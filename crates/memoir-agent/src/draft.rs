//! An exchange while it happens, in memory alone.

use std::sync::{Arc, Mutex, PoisonError};

use memoir_core::{
    CallCost, DraftMessage, ExchangeDraft, ExchangeStatus, MessageBody, Provenance, Purpose, Recalled,
    Timestamp, Usd, Visibility, count_tokens,
};
use memoir_models::{ChatModel, StopReason, ToolResult};

use crate::{ContextReport, reply::Reply};

/// An exchange while it happens.
pub(crate) struct Draft {
    exchange: ExchangeDraft,
    /// The call that is under way, as far as it has come.
    call: Reply,
    /// Why the model stopped last.
    stop: StopReason,
    /// How large the layers of the last request were, and the window's room.
    pub(crate) context: Option<ContextReport>,
    pub(crate) window_room: u64,
    /// What sub-agents called; of one that is cut off too.
    paid: Arc<Mutex<Vec<CallCost>>>,
}

impl Draft {
    pub(crate) fn begin(prompt: &str, model: &str, now: Timestamp) -> Self {
        let exchange = ExchangeDraft {
            status: ExchangeStatus::Completed,
            started: now,
            completed: now,
            user_message: prompt.to_owned(),
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
            call: Reply::default(),
            stop: StopReason::Done,
            context: None,
            window_room: 0,
            paid: Arc::default(),
        };
        draft.add(MessageBody::User { text: prompt.to_owned() }, Visibility::Shown, Provenance::Said, now);
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
        let paid = std::mem::take(&mut *self.paid.lock().unwrap_or_else(PoisonError::into_inner));
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
        let by_others = |message: &DraftMessage| has_words_of_others(&message.body);
        self.exchange.recalled.is_empty() && !self.exchange.messages.iter().any(by_others)
    }

    /// A call begins; what comes of it is gathered here.
    pub(crate) fn begin_call(&mut self) -> &mut Reply {
        self.call = Reply::default();
        &mut self.call
    }

    /// The call is over, one way or another. If anything of it has come, it was paid for, at a price that is
    /// unknown where the provider did not say what it used.
    pub(crate) fn end_call(&mut self, model: &dyn ChatModel, now: Timestamp) -> Reply {
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
    pub(crate) fn tool_round(&mut self, reply: &Reply, results: &[ToolResult], now: Timestamp) {
        self.take_paid();
        let asked = MessageBody::Assistant { text: reply.text.clone(), tool_calls: reply.tool_calls.clone() };
        self.add(asked, Visibility::Redacted, Provenance::Said, now);
        for ToolResult { call_id, tool_name, text } in results.iter().cloned() {
            let given = MessageBody::Tool { call_id, tool_name, text };
            self.add(given, Visibility::Redacted, Provenance::Said, now);
            self.exchange.tool_call_count += 1;
        }
    }

    pub(crate) fn complete(&mut self, answer: String, provenance: Provenance, now: Timestamp) {
        let body = MessageBody::Assistant { text: answer.clone(), tool_calls: Vec::new() };
        self.add(body, Visibility::Shown, provenance, now);
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

    fn add(&mut self, body: MessageBody, visibility: Visibility, provenance: Provenance, created: Timestamp) {
        let tokens = count_tokens(body.text()) as u64;
        self.exchange.messages.push(DraftMessage {
            author: None,
            body,
            visibility,
            provenance,
            tokens,
            created,
        });
    }
}

/// Whether a message has more in it than the user typed and the model said: a file that went along, or what a tool gave.
pub(crate) fn has_words_of_others(body: &MessageBody) -> bool {
    match body {
        MessageBody::User { text } => text.contains("\n<file path=\""),
        MessageBody::Assistant { .. } => false,
        MessageBody::Tool { tool_name, .. } => tool_name != "core_memory",
    }
}
