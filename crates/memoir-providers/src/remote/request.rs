//! Conversion of requests to genai's types.

use genai::chat::{self, CacheControl, ContentPart, MessageContent};
use memoir_core::{ToolCall, ToolSpec};
use memoir_models::{ChatMessage, ChatRequest, Provider};

use super::replay;

/// Converts a request, adding cache breakpoints if the provider uses them.
pub(super) fn convert_request(request: ChatRequest, provider: Provider) -> chat::ChatRequest {
    let last = request.messages.len().saturating_sub(1);
    let stable = request.stable_messages;
    let mut messages: Vec<chat::ChatMessage> = request.messages.into_iter().map(message).collect();
    // Anthropic caches the prompt up to each breakpoint. We set one after the tools and the system prompt, one after
    // the messages that the next exchange will repeat, and one at the end, for the next tool round of this exchange.
    // Other providers detect the shared prefix themselves.
    let uses_breakpoints = provider == Provider::Anthropic;
    if uses_breakpoints {
        for index in [stable.checked_sub(1), Some(last)].into_iter().flatten() {
            if let Some(message) = messages.get_mut(index) {
                message.options = Some(CacheControl::Ephemeral.into());
            }
        }
    }
    if !request.system.is_empty() {
        let mut system = chat::ChatMessage::system(request.system);
        if uses_breakpoints {
            system.options = Some(CacheControl::Ephemeral.into());
        }
        messages.insert(0, system);
    }
    let converted = chat::ChatRequest::new(messages);
    if request.tools.is_empty() {
        converted
    } else {
        converted.with_tools(request.tools.into_iter().map(tool))
    }
}

fn message(message: ChatMessage) -> chat::ChatMessage {
    match message {
        ChatMessage::User(text) => chat::ChatMessage::user(text),
        ChatMessage::Assistant { text, tool_calls, replay } => {
            if let Some(content) = replay.and_then(replay::read) {
                return chat::ChatMessage::assistant(content);
            }
            let text = (!text.is_empty()).then_some(ContentPart::Text(text));
            let calls = tool_calls.into_iter().map(|call| ContentPart::ToolCall(tool_call(call)));
            chat::ChatMessage::assistant(MessageContent::from_parts(
                text.into_iter().chain(calls).collect::<Vec<_>>(),
            ))
        }
        // All results of one reply are in one message. Anthropic requires this and the others accept it.
        ChatMessage::ToolResults(results) => chat::ChatMessage::from(
            results
                .into_iter()
                .map(|result| {
                    chat::ToolResponse::new(result.call_id, result.text).with_fn_name(result.tool_name)
                })
                .collect::<Vec<_>>(),
        ),
    }
}

fn tool_call(call: ToolCall) -> chat::ToolCall {
    chat::ToolCall {
        call_id: call.id,
        fn_name: call.name,
        fn_arguments: call.arguments,
        thought_signatures: None,
    }
}

fn tool(spec: ToolSpec) -> chat::Tool {
    chat::Tool::new(spec.name.into_owned()).with_description(spec.description).with_schema(spec.parameters)
}
