//! One reply of the model, gathered from its stream.

use std::sync::Arc;

use futures::StreamExt as _;
use memoir_core::{ToolCall, Usage};
use memoir_models::{ChatEvent, ChatModel, ChatRequest, ModelError, Replay, StopReason};

use crate::{Observer, TurnEvent};

/// A reply, as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct ModelReply {
    pub(crate) text: String,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) replay: Option<Replay>,
    thought: bool,
    pub(crate) stop: Option<StopReason>,
    /// What it used, as far as the provider told. A reply that fails at its end has used it all the same.
    pub(crate) usage: Option<Usage>,
}

impl ModelReply {
    /// Whether anything of it has come, and therefore has to be paid for.
    pub(crate) fn has_begun(&self) -> bool {
        !self.text.is_empty() || !self.tool_calls.is_empty() || self.thought || self.usage.is_some()
    }
}

/// Sends `request` and gathers the answer into `reply`, telling what comes as it comes.
pub(crate) async fn ask(
    model: &dyn ChatModel,
    request: ChatRequest,
    reply: &mut ModelReply,
    observer: Observer<'_>,
) -> Result<(), ModelError> {
    observer(TurnEvent::RequestSent(Arc::new(request.clone())));
    let mut stream = model.stream(request).await?;
    while let Some(event) = stream.next().await {
        match event? {
            ChatEvent::Text(text) => {
                reply.text.push_str(&text);
                observer(TurnEvent::Text(text));
            }
            ChatEvent::Thinking(text) => {
                reply.thought = true;
                observer(TurnEvent::Thinking(text));
            }
            ChatEvent::ToolCall(call) => reply.tool_calls.push(call),
            ChatEvent::Usage(usage) => *reply.usage.get_or_insert_default() += usage,
            ChatEvent::Retrying { reason, wait } => observer(TurnEvent::Retrying { reason, wait }),
            ChatEvent::End(finish) => {
                reply.replay = finish.replay;
                reply.stop = Some(finish.reason);
                if finish.reason == StopReason::Length {
                    observer(TurnEvent::Notice("The answer reached the model's output limit.".into()));
                }
                let empty = reply.text.trim().is_empty() && reply.tool_calls.is_empty();
                return if empty { Err(ModelError::Empty) } else { Ok(()) };
            }
        }
    }
    Err(ModelError::Truncated)
}
