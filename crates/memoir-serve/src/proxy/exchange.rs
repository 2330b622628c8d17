//! An exchange that passes through, and how it is stored.

use std::sync::Arc;

use memoir_core::{
    CallCost, Clock as _, DraftMessage, ExchangeDraft, ExchangeSource, ExchangeStatus, MessageBody,
    Provenance, Purpose, RecalledPassages, SystemClock, Timestamp, Visibility, count_tokens,
};
use memoir_models::ModelName;
use memoir_providers::{ClientApi, ObservedAnswer};
use memoir_runtime::{Failure, view::MemoryView};
use memoir_store::CommittedExchange;

use super::{
    additions::Additions,
    identity::Identity,
    request::{ChatCall, Speaker, Turn},
};

/// An exchange whose answer has not arrived yet.
pub(super) struct Passing {
    pub(super) api: ClientApi,
    pub(super) view: MemoryView,
    pub(super) source: ExchangeSource,
    pub(super) model: ModelName,
    pub(super) call: ChatCall,
    pub(super) identity: Identity,
    pub(super) started: Timestamp,
    pub(super) additions: Arc<Additions>,
}

impl Passing {
    /// Stores the exchange, unless the model waits for the results of tools.
    pub(super) async fn store(&self, answer: &ObservedAnswer) -> Result<Option<CommittedExchange>, Failure> {
        let Some(prompt) = self.identity.prompt() else { return Ok(None) };
        let usage = answer.usage.unwrap_or_default();
        let info = self.view.models().catalog.model(&self.model);
        let cost = CallCost {
            purpose: Purpose::Chat,
            model: self.model.to_string(),
            usage,
            cost: info.and_then(|info| info.cost(&usage)),
            created: SystemClock.now(),
        };
        let key = self.identity.key_of(prompt);
        if !answer.tool_calls.is_empty() {
            self.additions.keep_call(key, cost);
            return Ok(None);
        }
        if answer.text.trim().is_empty() {
            return Ok(None);
        }
        let mut calls = self.additions.take_calls(key);
        calls.push(cost);
        let draft = self.draft(&self.call.turns[prompt..], &answer.text, calls);
        let keys = self.identity.keys_after(&answer.text, answer.response.as_deref());
        let committed = self.view.store_passing(self.identity.thread, &draft, &keys).await?;
        let view = self.view.clone();
        tokio::spawn(async move { view.embed_stored(committed.exchange_id).await });
        Ok(Some(committed))
    }

    /// Builds the exchange. `turns` begin with the prompt.
    fn draft(&self, turns: &[Turn], answer: &str, calls: Vec<CallCost>) -> ExchangeDraft {
        let now = SystemClock.now();
        let prompt = turns.first().map(|turn| turn.text.clone()).unwrap_or_default();
        let message = |body: MessageBody, visibility, by_others| DraftMessage {
            author: None,
            by_others,
            tokens: count_tokens(body.text()) as u64,
            body,
            visibility,
            provenance: Provenance::Original,
            created: now,
        };
        let body = MessageBody::User { text: prompt.clone() };
        let is_by_others = body.infer_by_others();
        let mut messages =
            vec![DraftMessage { created: self.started, ..message(body, Visibility::Shown, is_by_others) }];
        let (mut tool_call_count, mut has_read) = (0, is_by_others);
        for turn in turns.iter().skip(1) {
            let body = match &turn.speaker {
                Speaker::Tool(call) => {
                    let tool_name = tool_name(turns, call);
                    MessageBody::Tool { call_id: call.clone(), tool_name, text: turn.text.clone() }
                }
                Speaker::Assistant | Speaker::User => {
                    tool_call_count += turn.tool_calls.len() as u64;
                    MessageBody::Assistant { text: turn.text.clone(), tool_calls: turn.tool_calls.clone() }
                }
            };
            has_read |= turn.speaker != Speaker::Assistant;
            messages.push(message(body, Visibility::Hidden, turn.speaker != Speaker::Assistant));
        }
        let body = MessageBody::Assistant { text: answer.to_owned(), tool_calls: Vec::new() };
        messages.push(message(body, Visibility::Shown, has_read));
        ExchangeDraft {
            status: ExchangeStatus::Completed,
            started: self.started,
            completed: now,
            user_message: prompt,
            assistant_message: answer.to_owned(),
            model: self.model.to_string(),
            messages,
            calls,
            recalled: RecalledPassages::default(),
            tool_call_count,
            error: None,
            source: Some(self.source.clone()),
        }
    }
}

/// Returns the name of the tool of a call.
fn tool_name(turns: &[Turn], id: &str) -> String {
    let mut calls = turns.iter().flat_map(|turn| &turn.tool_calls);
    calls.find(|call| call.id == id).map(|call| call.name.clone()).unwrap_or_default()
}
