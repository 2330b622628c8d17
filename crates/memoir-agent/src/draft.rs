//! The exchange of a running turn. It stays in memory until the turn commits it.

use std::sync::{Arc, Mutex};

use memoir_core::{
    CallCost, DraftMessage, ExchangeDraft, ExchangeStatus, MessageBody, Provenance, Purpose,
    RecalledPassages, Timestamp, TurnInput, Usd, Visibility, count_tokens, lock,
};
use memoir_models::{ChatModel, StopReason, ToolResult};

use crate::{ContextReport, reply::ModelReply};

pub(crate) struct Draft {
    exchange: ExchangeDraft,
    /// The part of the current reply that has been received.
    reply: ModelReply,
    stop_reason: StopReason,
    pub(crate) context: Option<ContextReport>,
    pub(crate) window_room: u64,
    has_untrusted_context: bool,
    /// Model calls of sub-agents, including cancelled ones, that are not part of `exchange` yet.
    subagent_calls: Arc<Mutex<Vec<CallCost>>>,
}

impl Draft {
    pub(crate) fn new(input: &TurnInput, model: &str, now: Timestamp) -> Self {
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
            recalled: RecalledPassages::default(),
            tool_call_count: 0,
            error: None,
            source: None,
        };
        let mut draft = Self {
            exchange,
            reply: ModelReply::default(),
            stop_reason: StopReason::Done,
            context: None,
            window_room: 0,
            has_untrusted_context: false,
            subagent_calls: Arc::default(),
        };
        draft.add(DraftMessage {
            by_others: input.has_text_by_others(),
            ..message(MessageBody::User { text: prompt }, Visibility::Shown, now)
        });
        draft
    }

    /// Marks the prompt as a question that memory answers, so that it is not found as evidence later.
    pub(crate) fn mark_prompt_as_lookup(&mut self) {
        if let Some(prompt) = self.exchange.messages.first_mut() {
            prompt.provenance = Provenance::Derived;
        }
    }

    pub(crate) fn calls(&self) -> &[CallCost] {
        &self.exchange.calls
    }

    /// Returns the list to which sub-agents add their model calls.
    pub(crate) fn subagent_calls(&self) -> Arc<Mutex<Vec<CallCost>>> {
        Arc::clone(&self.subagent_calls)
    }

    fn collect_subagent_calls(&mut self) {
        let calls = std::mem::take(&mut *lock(&self.subagent_calls));
        self.exchange.calls.extend(calls);
    }

    /// Returns the cost of the calls so far. Calls whose price is unknown do not count.
    pub(crate) fn known_cost(&self) -> Usd {
        self.exchange.calls.iter().filter_map(|call| call.cost).sum()
    }

    pub(crate) fn finish(self) -> (ExchangeDraft, StopReason) {
        (self.exchange, self.stop_reason)
    }

    pub(crate) fn set_recalled(&mut self, recalled: RecalledPassages) {
        self.exchange.recalled = recalled;
    }

    /// Records that the context of the exchange contains text by others.
    pub(crate) fn mark_untrusted_context(&mut self) {
        self.has_untrusted_context = true;
    }

    /// Returns whether everything that the model has read in this exchange was written by the user.
    pub(crate) fn has_only_user_text(&self) -> bool {
        !self.has_untrusted_context
            && self.exchange.recalled.is_empty()
            && !self.exchange.messages.iter().any(|message| message.by_others)
    }

    /// Starts a model call and returns the reply that is to be filled.
    pub(crate) fn begin_call(&mut self) -> &mut ModelReply {
        self.reply = ModelReply::default();
        &mut self.reply
    }

    /// Ends a model call, successful or not, and returns its reply. Records the call if the reply has begun, because
    /// it is billed. The cost is unknown if the provider did not report the usage.
    pub(crate) fn end_call(&mut self, model: &dyn ChatModel, now: Timestamp) -> ModelReply {
        self.collect_subagent_calls();
        let reply = std::mem::take(&mut self.reply);
        self.stop_reason = reply.stop.unwrap_or(self.stop_reason);
        if reply.has_begun() {
            let unreported_cost = || model.is_free().then_some(Usd::ZERO);
            // Some gateways report zero tokens instead of nothing.
            let usage = reply.usage.filter(|usage| usage.input_tokens + usage.output_tokens > 0);
            self.exchange.calls.push(CallCost {
                purpose: Purpose::Chat,
                model: self.exchange.model.clone(),
                usage: usage.unwrap_or_default(),
                cost: usage.map_or_else(unreported_cost, |usage| model.cost(&usage)),
                created: now,
            });
        }
        reply
    }

    /// Adds a reply with tool calls, and their results. They are stored, but later requests do not contain them.
    pub(crate) fn add_tool_round(&mut self, reply: &ModelReply, results: &[ToolResult], now: Timestamp) {
        self.collect_subagent_calls();
        let request =
            MessageBody::Assistant { text: reply.text.clone(), tool_calls: reply.tool_calls.clone() };
        self.add(message(request, Visibility::Hidden, now));
        for ToolResult { call_id, tool_name, text, .. } in results.iter().cloned() {
            let by_others = MessageBody::is_result_by_others(&tool_name);
            let result = MessageBody::Tool { call_id, tool_name, text };
            self.add(DraftMessage { by_others, ..message(result, Visibility::Hidden, now) });
            self.exchange.tool_call_count += 1;
        }
    }

    /// Ends the exchange with an answer. If the model has read text by others, the answer may repeat it, and therefore
    /// counts as such text itself.
    pub(crate) fn complete(&mut self, answer: String, provenance: Provenance, now: Timestamp) {
        let body = MessageBody::Assistant { text: answer.clone(), tool_calls: Vec::new() };
        let by_others = !self.has_only_user_text();
        self.add(DraftMessage { provenance, by_others, ..message(body, Visibility::Shown, now) });
        self.exchange.assistant_message = answer;
        self.exchange.completed = now;
    }

    /// Ends the exchange without an answer. It is still stored, because its tools have already had an effect. The
    /// reason is marked as derived, because the model did not write it.
    pub(crate) fn stop(&mut self, reason: String, now: Timestamp) {
        self.exchange.status = ExchangeStatus::Stopped;
        self.exchange.error = Some(reason.clone());
        self.complete(reason, Provenance::Derived, now);
    }

    fn add(&mut self, message: DraftMessage) {
        self.exchange.messages.push(message);
    }
}

fn message(body: MessageBody, visibility: Visibility, created: Timestamp) -> DraftMessage {
    DraftMessage {
        author: None,
        tokens: count_tokens(body.text()) as u64,
        body,
        visibility,
        provenance: Provenance::Original,
        by_others: false,
        created,
    }
}
