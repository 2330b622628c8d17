//! One reply of the model, gathered from its stream.

use futures::StreamExt as _;
use memoir_core::{ToolCall, Usage};
use memoir_models::{ChatEvent, ChatModel, ChatRequest, ModelError, StopReason, ThinkingBlock};

use crate::{Observer, TurnEvent};

/// A whole reply.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) thinking: Vec<ThinkingBlock>,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) usage: Usage,
}

/// Sends `request` and gathers the reply, telling what comes as it comes.
pub(crate) async fn ask(
    model: &dyn ChatModel,
    request: ChatRequest,
    observer: Observer<'_>,
) -> Result<Reply, ModelError> {
    observer(TurnEvent::RequestSent);
    let mut stream = model.stream(request).await?;
    let mut reply = Reply::default();
    while let Some(event) = stream.next().await {
        match event? {
            ChatEvent::Text(text) => {
                reply.text.push_str(&text);
                observer(TurnEvent::Text(text));
            }
            ChatEvent::Thinking(text) => observer(TurnEvent::Thinking(text)),
            ChatEvent::ToolCall(call) => reply.tool_calls.push(call),
            ChatEvent::Usage(usage) => reply.usage += usage,
            ChatEvent::End(finish) => {
                reply.thinking = finish.thinking;
                if finish.reason == StopReason::Length {
                    observer(TurnEvent::Notice(
                        "The answer reached the model's output limit.".into(),
                    ));
                }
                return if reply.text.is_empty() && reply.tool_calls.is_empty() {
                    Err(ModelError::Empty)
                } else {
                    Ok(reply)
                };
            }
        }
    }
    Err(ModelError::Truncated)
}
