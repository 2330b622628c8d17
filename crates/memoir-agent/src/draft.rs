//! An exchange while it happens, in memory alone.

use memoir_core::{
    CallCost, DraftMessage, ExchangeDraft, ExchangeStatus, MessageBody, Provenance, Purpose, Timestamp,
    Usage, Usd, Visibility, count_tokens,
};
use memoir_models::ToolResult;

use crate::reply::Reply;

/// An exchange while it happens.
pub(crate) struct Draft(ExchangeDraft);

impl Draft {
    pub(crate) fn begin(prompt: &str, model: &str, now: Timestamp) -> Self {
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
        draft.add(MessageBody::User { text: prompt.to_owned() }, Visibility::Shown, Provenance::Said, now);
        draft
    }

    /// What was called so far.
    pub(crate) fn calls(&self) -> &[CallCost] {
        &self.0.calls
    }

    /// The exchange, when it is over.
    pub(crate) fn finished(self) -> ExchangeDraft {
        self.0
    }

    pub(crate) fn count_call(&mut self, cost: Option<Usd>, usage: Usage, now: Timestamp) {
        let (purpose, model) = (Purpose::Chat, self.0.model.clone());
        self.0.calls.push(CallCost { purpose, model, usage, cost, created: now });
    }

    /// Files a reply that asked for tools, and what they gave: kept, but not sent again later.
    pub(crate) fn tool_round(&mut self, reply: &Reply, results: &[ToolResult], now: Timestamp) {
        let asked = MessageBody::Assistant { text: reply.text.clone(), tool_calls: reply.tool_calls.clone() };
        self.add(asked, Visibility::Redacted, Provenance::Said, now);
        for ToolResult { call_id, tool_name, text } in results.iter().cloned() {
            let given = MessageBody::Tool { call_id, tool_name, text };
            self.add(given, Visibility::Redacted, Provenance::Said, now);
            self.0.tool_call_count += 1;
        }
    }

    pub(crate) fn complete(&mut self, answer: String, provenance: Provenance, now: Timestamp) {
        let body = MessageBody::Assistant { text: answer.clone(), tool_calls: Vec::new() };
        self.add(body, Visibility::Shown, provenance, now);
        self.0.assistant_message = answer;
        self.0.completed = now;
    }

    /// Ends without an answer. What the tools did has happened, so it is kept; the reason is a notice, not
    /// something that was said.
    pub(crate) fn stop(&mut self, reason: String, now: Timestamp) {
        self.0.status = ExchangeStatus::Stopped;
        self.0.error = Some(reason.clone());
        self.complete(reason, Provenance::Derived, now);
    }

    fn add(&mut self, body: MessageBody, visibility: Visibility, provenance: Provenance, created: Timestamp) {
        let tokens = count_tokens(body.text()) as u64;
        self.0.messages.push(DraftMessage { body, visibility, provenance, tokens, created });
    }
}
