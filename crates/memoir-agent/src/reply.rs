//! Reads a reply of the model from its stream.

use std::sync::Arc;

use futures::StreamExt as _;
use memoir_core::{ToolCall, Usage};
use memoir_models::{ChatEvent, ChatModel, ChatRequest, ModelError, Replay, StopReason};

use crate::{Observer, TurnEvent};

/// Maximum size of a reply in bytes, including thinking and the arguments of calls. No model writes as much; a broken or
/// hostile server may send without end.
const MAX_REPLY_BYTES: usize = 4_000_000;

/// The part of a reply that has been received.
#[derive(Debug, Default)]
pub(crate) struct ModelReply {
    pub(crate) text: String,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) replay: Option<Replay>,
    has_thinking: bool,
    pub(crate) stop: Option<StopReason>,
    /// Usage that the provider has reported so far. It is billed even if the reply fails later.
    pub(crate) usage: Option<Usage>,
}

impl ModelReply {
    /// Returns whether any part of the reply has been received, so that the call is billed.
    pub(crate) fn has_begun(&self) -> bool {
        !self.text.is_empty() || !self.tool_calls.is_empty() || self.has_thinking || self.usage.is_some()
    }
}

/// Sends `request` and collects the answer in `reply`, reporting each part to `observer` as it arrives.
pub(crate) async fn ask(
    model: &dyn ChatModel,
    request: ChatRequest,
    reply: &mut ModelReply,
    observer: Observer<'_>,
) -> Result<(), ModelError> {
    observer(TurnEvent::RequestSent(Arc::new(request.clone())));
    let mut stream = model.stream(request).await?;
    let mut received = 0;
    while let Some(event) = stream.next().await {
        let event = event?;
        received += match &event {
            ChatEvent::Text(text) | ChatEvent::Thinking(text) => text.len(),
            ChatEvent::ToolCall(call) => call.arguments.to_string().len(),
            _ => 0,
        };
        if received > MAX_REPLY_BYTES {
            let megabytes = MAX_REPLY_BYTES / 1_000_000;
            observer(TurnEvent::Notice(format!("The answer was cut off after {megabytes} MB.")));
            reply.stop = Some(StopReason::Length);
            return if reply.text.trim().is_empty() { Err(ModelError::Empty) } else { Ok(()) };
        }
        match event {
            ChatEvent::Text(text) => {
                reply.text.push_str(&text);
                observer(TurnEvent::Text(text));
            }
            ChatEvent::Thinking(text) => {
                reply.has_thinking = true;
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
                let is_empty = reply.text.trim().is_empty() && reply.tool_calls.is_empty();
                return if is_empty { Err(ModelError::Empty) } else { Ok(()) };
            }
        }
    }
    Err(ModelError::Truncated)
}
