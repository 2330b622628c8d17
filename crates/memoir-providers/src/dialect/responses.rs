//! OpenAI's Responses, through which its newest models call tools.

use memoir_core::{Image, ToolCall, ToolSpec, Usage};
use memoir_models::{ChatEvent, ChatMessage, ChatRequest, ModelError, StopReason};
use serde_json::{Value, json};

use super::{
    Call, Dialect, EndOfReply, Read, ReplyReader, RequestOptions, bearer, call_id, check_parts, data_url,
    effort, end, parse_arguments, read_replay, save_replay, text_of, tokens, valid_arguments,
};
use crate::secret::Secret;

/// Key of the items in a [`memoir_models::Replay`].
const REPLAY: &str = "responses";

/// Reasoning comes encrypted, to be sent back, because the server stores nothing.
const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";

pub(super) struct Responses;

impl Dialect for Responses {
    fn call(&self, request: &ChatRequest, options: &RequestOptions<'_>) -> Call {
        let mut body = json!({
            "model": options.model,
            "input": request.messages.iter().flat_map(items).collect::<Vec<_>>(),
            "stream": true,
            "store": false,
            "include": [ENCRYPTED_REASONING],
        });
        if !request.system.is_empty() {
            body["instructions"] = json!(request.system);
        }
        if !request.tools.is_empty() {
            body["tools"] = request.tools.iter().map(tool).collect();
        }
        if let Some(reasoning) = options.reasoning {
            body["reasoning"] = json!({"effort": effort(reasoning)});
        }
        Call { path: "responses".into(), body }
    }

    fn key_headers(&self, secret: &Secret) -> Vec<(&'static str, String)> {
        bearer(secret)
    }

    fn reader(&self) -> Box<dyn ReplyReader> {
        Box::new(Reader::default())
    }
}

fn items(message: &ChatMessage) -> Vec<Value> {
    match message {
        ChatMessage::User { text, images } => {
            vec![json!({"role": "user", "content": content(text, images)})]
        }
        ChatMessage::Assistant { text, tool_calls, .. } => {
            if let Some(Value::Array(items)) = read_replay(REPLAY, message) {
                return items;
            }
            let text = (!text.is_empty()).then(|| json!({"role": "assistant", "content": text}));
            text.into_iter().chain(tool_calls.iter().map(call)).collect()
        }
        ChatMessage::ToolResults(results) => {
            let output = |result: &memoir_models::ToolResult| json!({"type": "function_call_output", "call_id": result.call_id, "output": content(&result.text, &result.images)});
            results.iter().map(output).collect()
        }
    }
}

/// Returns a text, with its images if there are any.
fn content(text: &str, images: &[Image]) -> Value {
    if images.is_empty() {
        return json!(text);
    }
    let text = json!({"type": "input_text", "text": text});
    let image = |image: &Image| json!({"type": "input_image", "image_url": data_url(image)});
    [text].into_iter().chain(images.iter().map(image)).collect()
}

fn call(call: &ToolCall) -> Value {
    let arguments = valid_arguments(call).to_string();
    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments})
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
        // Strict schemas have no optional parameters.
        "strict": false,
    })
}

#[derive(Default)]
struct Reader {
    /// The items of the reply as they are sent back.
    items: Vec<Value>,
    calls: Vec<ToolCall>,
    /// Size of the arguments that have arrived.
    argument_bytes: usize,
    usage: Option<Usage>,
    reason: Option<Result<StopReason, ModelError>>,
}

impl ReplyReader for Reader {
    fn read(&mut self, message: &Value) -> Result<Read, ModelError> {
        let delta = || text_of(&message["delta"]);
        let mut read = Read::default();
        match message["type"].as_str() {
            Some("response.output_text.delta" | "response.refusal.delta") => {
                read.events.extend(delta().map(ChatEvent::Text));
            }
            Some("response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => {
                read.events.extend(delta().map(ChatEvent::Thinking));
            }
            Some("response.function_call_arguments.delta") => {
                self.argument_bytes += delta().unwrap_or_default().len();
                super::check_arguments(self.argument_bytes)?;
            }
            Some("response.output_item.done") => self.add_item(&message["item"])?,
            Some("response.completed" | "response.incomplete") => {
                self.complete(&message["response"]);
                read.is_last = true;
            }
            // A whole reply.
            None if message["object"] == "response" => {
                for item in message["output"].as_array().into_iter().flatten() {
                    read.events.extend(parts(item));
                    self.add_item(item)?;
                }
                self.complete(message);
            }
            _ => {}
        }
        Ok(read)
    }

    fn finish(&mut self, _: EndOfReply) -> Vec<Result<ChatEvent, ModelError>> {
        // The text and the calls are enough without reasoning.
        let has_reasoning = self.items.iter().any(|item| item["type"] == "reasoning");
        let items = Value::Array(std::mem::take(&mut self.items));
        let replay = has_reasoning.then(|| save_replay(REPLAY, items));
        end(std::mem::take(&mut self.calls), self.usage.take(), self.reason.take(), replay)
    }
}

/// Returns the content of an item of a reply that is not streamed.
fn parts(item: &Value) -> impl Iterator<Item = ChatEvent> {
    let parts = ["summary", "content"].into_iter().filter_map(|field| item[field].as_array()).flatten();
    parts.filter_map(|part| {
        let text = text_of(&part["text"]).or_else(|| text_of(&part["refusal"]))?;
        match part["type"].as_str() {
            Some("summary_text" | "reasoning_text") => Some(ChatEvent::Thinking(text)),
            _ => Some(ChatEvent::Text(text)),
        }
    })
}

impl Reader {
    /// Adds an item that is complete.
    fn add_item(&mut self, item: &Value) -> Result<(), ModelError> {
        let mut item = item.clone();
        if item["type"] == "function_call" {
            let text = |field: &str| item[field].as_str().unwrap_or_default();
            let call = ToolCall {
                id: call_id(&item["call_id"]),
                name: text("name").to_owned(),
                arguments: parse_arguments(text("arguments")),
            };
            item["call_id"] = json!(call.id);
            item["arguments"] = Value::String(valid_arguments(&call).to_string());
            self.calls.push(call);
        }
        self.items.push(item);
        check_parts(self.items.len())
    }

    fn complete(&mut self, response: &Value) {
        if response["usage"].is_object() {
            self.usage = Some(usage(&response["usage"]));
        }
        self.reason = Some(match response["incomplete_details"]["reason"].as_str() {
            Some("content_filter") => Err(ModelError::ContentFilter),
            Some(_) => Ok(StopReason::Length),
            None => Ok(StopReason::Done),
        });
    }
}

fn usage(counts: &Value) -> Usage {
    let count = |pointer: &str| counts.pointer(pointer).and_then(tokens).unwrap_or(0);
    Usage {
        input_tokens: count("/input_tokens"),
        output_tokens: count("/output_tokens"),
        cached_tokens: count("/input_tokens_details/cached_tokens"),
        cache_write_tokens: count("/input_tokens_details/cache_write_tokens"),
        reasoning_tokens: count("/output_tokens_details/reasoning_tokens"),
    }
}
