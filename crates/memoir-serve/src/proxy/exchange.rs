//! An exchange that passes through, and how it is stored.

use std::sync::Arc;

use memoir_core::{
    CallCost, Clock as _, DraftMessage, ExchangeDraft, ExchangeSource, ExchangeStatus, MessageBody,
    Provenance, Purpose, RecalledPassages, SystemClock, Timestamp, Visibility, count_tokens,
};
use memoir_models::ModelName;
use memoir_providers::ObservedAnswer;
use memoir_runtime::{Failure, view::MemoryView};
use memoir_store::CommittedExchange;

use super::{
    additions::{Additions, OpenTurns},
    identity::Identity,
    request::{Speaker, Turn},
};

/// An exchange whose answer has not arrived yet.
pub(super) struct Passing {
    pub(super) view: MemoryView,
    pub(super) source: ExchangeSource,
    pub(super) model: ModelName,
    /// The turns from the prompt on.
    pub(super) turns: Vec<Turn>,
    pub(super) prompt_key: String,
    pub(super) identity: Identity,
    /// Whether the model has read what neither the user nor a model wrote: memory, or results of tools.
    pub(super) has_read_others: bool,
    pub(super) started: Timestamp,
    pub(super) additions: Arc<Additions>,
}

impl Passing {
    /// Stores the exchange, unless the model waits for the program.
    pub(super) async fn store(
        mut self,
        answer: ObservedAnswer,
    ) -> Result<Option<CommittedExchange>, Failure> {
        let info = self.view.models().catalog.model(&self.model);
        let cost = CallCost {
            purpose: Purpose::Chat,
            model: self.model.to_string(),
            usage: answer.usage.unwrap_or_default(),
            // Without the number of tokens, the cost is unknown.
            cost: answer.usage.and_then(|usage| info?.cost(&usage)),
            created: SystemClock.now(),
        };
        if !answer.tool_calls.is_empty() || answer.is_open {
            self.additions.keep_call(&self.prompt_key, cost);
            self.keep_open(answer);
            return Ok(None);
        }
        if answer.text.trim().is_empty() {
            return Ok(None);
        }
        // Requests that begin a conversation of the same name at the same time wait for each other.
        let additions = Arc::clone(&self.additions);
        let _turn = match self.identity.is_named() {
            true => Some(additions.naming.lock().await),
            false => None,
        };
        self.identity.refresh(&self.view).await?;
        let mut calls = self.additions.take_calls(&self.prompt_key);
        calls.push(cost);
        let draft = self.draft(&answer.text, calls);
        let keys =
            |conversation| self.identity.keys_after(&answer.text, answer.response.as_deref(), conversation);
        let committed = self.view.store_passing(self.identity.thread, &draft, keys).await?;
        let view = self.view.clone();
        tokio::spawn(async move { view.embed_stored(committed.exchange_id).await });
        Ok(Some(committed))
    }

    /// Keeps the turns for a program that sends only the results of tools next.
    fn keep_open(self, answer: ObservedAnswer) {
        let Some(response) = &answer.response else { return };
        let key = self.identity.response_key(response);
        // They are not part of the next request, so nothing can be added to them there.
        let mut turns: Vec<Turn> = self.turns.into_iter().map(|turn| Turn { end: None, ..turn }).collect();
        turns.push(Turn {
            speaker: Speaker::Assistant,
            text: answer.text,
            tool_calls: answer.tool_calls,
            end: None,
        });
        self.additions.keep_open(key, OpenTurns { turns, thread: self.identity.thread });
    }

    /// Builds the exchange.
    fn draft(&self, answer: &str, calls: Vec<CallCost>) -> ExchangeDraft {
        let turns = &self.turns;
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
        let mut tool_call_count = 0;
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
            messages.push(message(body, Visibility::Hidden, turn.speaker != Speaker::Assistant));
        }
        let body = MessageBody::Assistant { text: answer.to_owned(), tool_calls: Vec::new() };
        messages.push(message(body, Visibility::Shown, self.has_read_others || is_by_others));
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
