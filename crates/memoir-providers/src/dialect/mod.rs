//! The APIs of the providers. Each converts a request to its JSON, and the messages of a reply to events.
//!
//! To add one, write a file with a [`Dialect`] and name it in [`of`].

mod anthropic;
mod gemini;
mod ollama;
mod openai;
mod responses;
mod think;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use memoir_core::{Image, ToolCall, ToolSpec, Usage};
use memoir_models::{
    ChatEvent, ChatMessage, ChatRequest, Finish, ModelApi, ModelError, Provider, Replay, StopReason,
    ToolResult,
};
pub(crate) use ollama::Ollama;
use serde_json::{Value, json};

use crate::{Reasoning, secret::Secret};

/// The API of a provider.
pub(crate) trait Dialect: Send + Sync {
    /// Returns the call for a request.
    fn call(&self, request: &ChatRequest, options: &RequestOptions<'_>) -> Call;

    /// Returns the headers that carry the key.
    fn key_headers(&self, secret: &Secret) -> Vec<(&'static str, String)>;

    /// Returns whether the API takes images of this media type.
    fn takes(&self, media_type: &str) -> bool {
        let _ = media_type;
        true
    }

    /// Returns how the messages of a reply are separated.
    fn framing(&self) -> Framing {
        Framing::Events
    }

    /// Returns a reader for one reply.
    fn reader(&self) -> Box<dyn ReplyReader>;
}

/// What a request depends on, besides its content.
pub(crate) struct RequestOptions<'a> {
    /// The model's name at the provider.
    pub(crate) model: &'a str,
    pub(crate) reasoning: Option<Reasoning>,
    /// Maximum number of output tokens, if it is known.
    pub(crate) max_output_tokens: Option<u64>,
}

/// A call of a provider's API.
pub(crate) struct Call {
    /// The path below the base URL.
    pub(crate) path: String,
    pub(crate) body: Value,
}

/// How the messages of a reply are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON value per line.
    Lines,
}

/// Converts the messages of one reply to events.
pub(crate) trait ReplyReader: Send {
    /// Reads a message of the stream, or a whole reply that was not streamed.
    fn read(&mut self, message: &Value) -> Result<Read, ModelError>;

    /// Returns the last events, after the provider's end marker or at the end of the data.
    ///
    /// # Errors
    ///
    /// Fails with [`ModelError::Truncated`] if the reply is incomplete.
    fn finish(&mut self, end: EndOfReply) -> Vec<Result<ChatEvent, ModelError>>;
}

/// The content of one message.
#[derive(Default)]
pub(crate) struct Read {
    pub(crate) events: Vec<ChatEvent>,
    /// Whether this was the last message.
    pub(crate) is_last: bool,
}

/// How a reply has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndOfReply {
    /// With the provider's end marker.
    Marked,
    /// The connection was closed.
    Closed,
}

/// Returns the name of an effort in OpenAI's APIs and those derived from them.
fn effort(reasoning: Reasoning) -> &'static str {
    match reasoning {
        Reasoning::Low => "low",
        Reasoning::Medium => "medium",
        Reasoning::High => "high",
    }
}

/// Returns the API of a provider that has no client of its own.
pub(crate) fn of(provider: Provider, api: Option<ModelApi>) -> Box<dyn Dialect> {
    if let Some(ModelApi::Responses) = api {
        return Box::new(responses::Responses);
    }
    match provider {
        Provider::Anthropic => Box::new(anthropic::Anthropic),
        Provider::Google => Box::new(gemini::Gemini),
        Provider::OpenAi
        | Provider::Xai
        | Provider::OpenAiCompatible
        | Provider::Ollama
        | Provider::Memoir => Box::new(openai::OpenAi { provider }),
    }
}

/// Returns the header with which most servers expect the key, if there is one.
pub(crate) fn bearer(secret: &Secret) -> Vec<(&'static str, String)> {
    match secret.expose() {
        "" => Vec::new(),
        key => vec![("authorization", format!("Bearer {key}"))],
    }
}

/// How an API that is derived from OpenAI's writes messages.
struct MessageFormat {
    /// Key of the reasoning in a [`memoir_models::Replay`].
    replay: &'static str,
    /// Field that holds the reasoning of a reply.
    reasoning: &'static str,
    call: fn(&ToolCall) -> Value,
    result: fn(&ToolResult) -> Value,
    /// Adds images to a message from the user.
    add_images: fn(&mut Value, &[Image]),
}

/// Introduces the images of a tool, where an API takes images from the user only.
const RESULT_IMAGES: &str = "This message is not from the user. It has the images that this tool returned: ";

/// Converts the system prompt and the messages as OpenAI's API and those derived from it expect them.
fn chat_messages(request: &ChatRequest, format: &MessageFormat) -> Value {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    for message in &request.messages {
        match message {
            ChatMessage::User { text, images } => messages.push(user_message(text, images, format)),
            ChatMessage::Assistant { text, tool_calls, .. } => {
                let mut reply = json!({"role": "assistant", "content": text});
                if !tool_calls.is_empty() {
                    reply["tool_calls"] = tool_calls.iter().map(format.call).collect();
                }
                if let Some(reasoning) = read_replay(format.replay, message) {
                    reply[format.reasoning] = reasoning;
                }
                messages.push(reply);
            }
            ChatMessage::ToolResults(results) => {
                messages.extend(results.iter().map(format.result));
                for result in results.iter().filter(|result| !result.images.is_empty()) {
                    let text = format!("{RESULT_IMAGES}{}", result.tool_name);
                    messages.push(user_message(&text, &result.images, format));
                }
            }
        }
    }
    Value::Array(messages)
}

fn user_message(text: &str, images: &[Image], format: &MessageFormat) -> Value {
    let mut message = json!({"role": "user", "content": text});
    if !images.is_empty() {
        (format.add_images)(&mut message, images);
    }
    message
}

/// Returns the bytes of an image in base64.
fn encode(image: &Image) -> String {
    STANDARD.encode(image.data())
}

/// Returns an image as a URL that contains it.
fn data_url(image: &Image) -> String {
    format!("data:{};base64,{}", image.media_type(), encode(image))
}

/// Describes tools as OpenAI's API and those derived from it do.
fn function_tools(specs: &[ToolSpec]) -> Value {
    let function = |spec: &ToolSpec| json!({"name": spec.name, "description": spec.description, "parameters": spec.parameters});
    specs.iter().map(|spec| json!({"type": "function", "function": function(spec)})).collect()
}

/// Maximum number of tokens that a server can report, so that sums cannot overflow.
const MAX_TOKENS: u64 = 1 << 40;

/// A number of tokens.
fn tokens(value: &Value) -> Option<u64> {
    value.as_u64().map(|count| count.min(MAX_TOKENS))
}

/// A text that is not empty.
fn text_of(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Maximum number of calls, blocks or other parts in a reply.
const MAX_PARTS: usize = 20_000;

/// Checks the number of parts of a reply.
///
/// # Errors
///
/// Fails if there are too many.
fn check_parts(count: usize) -> Result<(), ModelError> {
    match count <= MAX_PARTS {
        true => Ok(()),
        false => Err(ModelError::InvalidResponse("it has too many parts".into())),
    }
}

/// Maximum length of the id of a call that every provider accepts.
const MAX_ID_CHARS: usize = 40;

/// Returns the id of a call. Another provider must accept it if the user changes the model, so a missing or unusual id
/// is replaced.
fn call_id(value: &Value) -> String {
    let is_portable = |id: &&str| {
        (1..=MAX_ID_CHARS).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    match value.as_str().filter(is_portable) {
        Some(id) => id.to_owned(),
        None => format!("call_{:032x}", fastrand::u128(..)),
    }
}

/// Maximum size of the arguments of a call.
const MAX_ARGUMENT_BYTES: usize = 4 << 20;

/// Adds a part of a call's arguments.
///
/// # Errors
///
/// Fails if they become too long.
fn add_arguments(arguments: &mut String, part: &str) -> Result<(), ModelError> {
    arguments.push_str(part);
    check_arguments(arguments.len())
}

/// Checks the size of a call's arguments.
///
/// # Errors
///
/// Fails if they are too long.
fn check_arguments(bytes: usize) -> Result<(), ModelError> {
    match bytes <= MAX_ARGUMENT_BYTES {
        true => Ok(()),
        false => Err(ModelError::InvalidResponse("the arguments of a tool call are too long".into())),
    }
}

/// Parses the arguments of a call. Text that is not JSON stays text, and the tool reports what is wrong with it.
fn parse_arguments(text: &str) -> Value {
    match text.trim() {
        "" => json!({}),
        text => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
    }
}

/// Returns the arguments of a call as they are sent back. Some providers reject any but an object, even in the history.
fn valid_arguments(call: &ToolCall) -> Value {
    if call.arguments.is_object() { call.arguments.clone() } else { json!({}) }
}

/// Saves what a provider expects back. Another provider ignores it, and sends the text and the tool calls.
fn save_replay(dialect: &str, content: Value) -> Replay {
    Replay::new(json!({dialect: content}))
}

/// Returns what [`save_replay`] has saved in a message for this provider.
fn read_replay(dialect: &str, message: &ChatMessage) -> Option<Value> {
    let ChatMessage::Assistant { replay: Some(replay), .. } = message else { return None };
    replay.clone().into_content().get(dialect).cloned()
}

/// Returns the last events of a reply.
fn end(
    calls: Vec<ToolCall>,
    usage: Option<Usage>,
    reason: Option<Result<StopReason, ModelError>>,
    replay: Option<Replay>,
) -> Vec<Result<ChatEvent, ModelError>> {
    let usage = usage.map(|usage| Ok(ChatEvent::Usage(usage)));
    let calls = calls.into_iter().map(|call| Ok(ChatEvent::ToolCall(call)));
    let (calls, last) = match reason {
        Some(Ok(reason)) => (Some(calls), Ok(ChatEvent::End(Finish { reason, replay }))),
        Some(Err(error)) => (None, Err(error)),
        None => (None, Err(ModelError::Truncated)),
    };
    calls.into_iter().flatten().chain(usage).chain([last]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_another_provider_would_reject_are_replaced() {
        assert_eq!(call_id(&json!("toolu_01-A")), "toolu_01-A");
        for unusual in [Value::Null, json!(""), json!("functions.look:0"), json!("x".repeat(41))] {
            let (id, other) = (call_id(&unusual), call_id(&unusual));
            assert!(id.len() <= MAX_ID_CHARS && id.starts_with("call_") && id != other, "{id}");
        }
    }
}
