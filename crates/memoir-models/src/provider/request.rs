//! From our request to genai's.

use genai::chat::{self, ContentPart, MessageContent};
use memoir_core::{ToolCall, ToolSpec};

use crate::{ChatMessage, ChatRequest, ThinkingBlock};

/// The same request in genai's words.
pub(super) fn from_ours(request: ChatRequest) -> chat::ChatRequest {
    let messages = request.messages.into_iter().map(message).collect();
    let mut theirs = chat::ChatRequest::new(messages);
    if !request.system.is_empty() {
        theirs = theirs.with_system(request.system);
    }
    if !request.tools.is_empty() {
        theirs = theirs.with_tools(request.tools.into_iter().map(tool));
    }
    theirs
}

fn message(message: ChatMessage) -> chat::ChatMessage {
    match message {
        ChatMessage::User(text) => chat::ChatMessage::user(text),
        ChatMessage::Assistant {
            thinking,
            text,
            tool_calls,
        } => {
            let mut parts: Vec<ContentPart> = thinking.into_iter().flat_map(thoughts).collect();
            if !text.is_empty() {
                parts.push(ContentPart::Text(text));
            }
            parts.extend(
                tool_calls
                    .into_iter()
                    .map(|call| ContentPart::ToolCall(tool_call(call))),
            );
            chat::ChatMessage::assistant(MessageContent::from_parts(parts))
        }
        // All results of one reply stand in one message: Anthropic insists on it, the others take it.
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

/// A signature stands before the text that it signs.
fn thoughts(block: ThinkingBlock) -> impl Iterator<Item = ContentPart> {
    let text = (!block.text.is_empty()).then_some(ContentPart::ReasoningContent(block.text));
    block
        .signature
        .map(ContentPart::ThoughtSignature)
        .into_iter()
        .chain(text)
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
    chat::Tool::new(spec.name)
        .with_description(spec.description)
        .with_schema(spec.parameters)
}
