//! Anthropic's messages.

use memoir_core::{Image, ToolCall, ToolSpec, Usage};
use memoir_models::{ChatEvent, ChatMessage, ChatRequest, ModelError, StopReason};
use serde_json::{Value, json};

use super::{
    Call, Dialect, EndOfReply, Read, ReplyReader, RequestOptions, add_arguments, call_id, check_parts,
    encode, end, parse_arguments, read_replay, save_replay, text_of, tokens, valid_arguments,
};
use crate::{Reasoning, secret::Secret};

/// Key of the content in a [`memoir_models::Replay`].
const REPLAY: &str = "anthropic";

/// The version of the API, in a header of each request.
const VERSION: &str = "2023-06-01";

/// Maximum number of output tokens for a model that is not in the catalog. The API requires one.
const DEFAULT_MAX_TOKENS: u64 = 32_000;

/// Models before this version get a number of tokens for reasoning, later ones an effort.
const FIRST_WITH_EFFORT: (u64, u64) = (4, 6);

/// Smallest number of tokens for reasoning that the API accepts.
const MIN_BUDGET: u64 = 1024;

pub(super) struct Anthropic;

impl Dialect for Anthropic {
    fn call(&self, request: &ChatRequest, options: &RequestOptions<'_>) -> Call {
        let max_tokens = options.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
        let mut body = json!({
            "model": options.model,
            "max_tokens": max_tokens,
            "messages": messages(request),
            "stream": true,
        });
        if !request.system.is_empty() {
            let mut system = json!({"type": "text", "text": request.system});
            set_breakpoint(&mut system);
            body["system"] = json!([system]);
        }
        if !request.tools.is_empty() {
            body["tools"] = request.tools.iter().map(tool).collect();
        }
        if let Some(reasoning) = options.reasoning {
            let (effort, budget) = match reasoning {
                Reasoning::Low => ("low", 1024),
                Reasoning::Medium => ("medium", 8000),
                Reasoning::High => ("high", 24_000),
            };
            if version(options.model).is_some_and(|version| version < FIRST_WITH_EFFORT) {
                // Half of the output is for the answer.
                let budget = budget.min(max_tokens / 2);
                if budget >= MIN_BUDGET {
                    body["thinking"] = json!({"type": "enabled", "budget_tokens": budget});
                }
            } else {
                body["thinking"] = json!({"type": "adaptive", "display": "summarized"});
                body["output_config"] = json!({"effort": effort});
            }
        }
        Call { path: "messages".into(), body }
    }

    fn key_headers(&self, secret: &Secret) -> Vec<(&'static str, String)> {
        vec![("x-api-key", secret.expose().to_owned()), ("anthropic-version", VERSION.to_owned())]
    }

    fn reader(&self) -> Box<dyn ReplyReader> {
        Box::new(Reader::default())
    }
}

/// Returns the version in a model's name: 4 and 5 in `claude-sonnet-4-5-20250929`.
fn version(model: &str) -> Option<(u64, u64)> {
    let mut numbers =
        model.split(['-', '.']).filter(|part| part.len() <= 2).map_while(|part| match part.parse() {
            Ok(number) => Some(Some(number)),
            Err(_) => Some(None),
        });
    let major = numbers.by_ref().flatten().next()?;
    Some((major, numbers.next().flatten().unwrap_or(0)))
}

/// Converts the messages. Anthropic caches the prompt up to each breakpoint. There is one after the tools and the system
/// prompt, one after the messages that the next exchange will repeat, and one at the end, for the next tool round of
/// this exchange.
fn messages(request: &ChatRequest) -> Value {
    let mut messages: Vec<Value> = request.messages.iter().map(message).collect();
    let last = messages.len().saturating_sub(1);
    for index in [request.stable_messages.checked_sub(1), Some(last)].into_iter().flatten() {
        let block = messages.get_mut(index).and_then(|message| message["content"].as_array_mut()?.last_mut());
        // Reasoning cannot have one.
        if let Some(block) = block.filter(|block| !is_reasoning(block)) {
            set_breakpoint(block);
        }
    }
    Value::Array(messages)
}

fn is_reasoning(block: &Value) -> bool {
    matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"))
}

fn set_breakpoint(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

fn message(message: &ChatMessage) -> Value {
    match message {
        ChatMessage::User { text, images } => json!({"role": "user", "content": blocks(text, images)}),
        ChatMessage::Assistant { text, tool_calls, .. } => {
            let content = read_replay(REPLAY, message).unwrap_or_else(|| {
                // A text block without words is an error.
                let text = (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
                text.into_iter().chain(tool_calls.iter().map(call)).collect()
            });
            json!({"role": "assistant", "content": content})
        }
        // All results of one reply must be in one message.
        ChatMessage::ToolResults(results) => {
            let block = |result: &memoir_models::ToolResult| json!({"type": "tool_result", "tool_use_id": result.call_id, "content": result_content(result)});
            json!({"role": "user", "content": results.iter().map(block).collect::<Vec<_>>()})
        }
    }
}

/// Returns the images, followed by the text, in which order the models understand them best.
fn blocks(text: &str, images: &[Image]) -> Vec<Value> {
    let image = |image: &Image| json!({"type": "image", "source": {"type": "base64", "media_type": image.media_type(), "data": encode(image)}});
    images.iter().map(image).chain([json!({"type": "text", "text": text})]).collect()
}

fn result_content(result: &memoir_models::ToolResult) -> Value {
    match result.images.is_empty() {
        true => json!(result.text),
        false => json!(blocks(&result.text, &result.images)),
    }
}

fn call(call: &ToolCall) -> Value {
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": valid_arguments(call)})
}

fn tool(spec: &ToolSpec) -> Value {
    json!({"name": spec.name, "description": spec.description, "input_schema": spec.parameters})
}

#[derive(Default)]
struct Reader {
    /// The blocks of the reply as they are sent back.
    blocks: Vec<Value>,
    /// Whether the last block is a call that is not complete yet.
    is_call_open: bool,
    /// The arguments of that call.
    arguments: String,
    calls: Vec<ToolCall>,
    usage: Option<Usage>,
    reason: Option<Result<StopReason, ModelError>>,
}

impl ReplyReader for Reader {
    fn read(&mut self, message: &Value) -> Result<Read, ModelError> {
        let mut read = Read::default();
        match message["type"].as_str() {
            Some("message_start") => self.add_usage(&message["message"]["usage"]),
            Some("content_block_start") => {
                read.events.extend(self.start_block(message["content_block"].clone()));
                check_parts(self.blocks.len())?;
            }
            Some("content_block_delta") => read.events.extend(self.extend_block(&message["delta"])?),
            Some("content_block_stop") => self.finish_block(),
            Some("message_delta") => {
                self.add_usage(&message["usage"]);
                self.set_reason(&message["delta"]["stop_reason"]);
            }
            Some("message_stop") => read.is_last = true,
            // A whole reply.
            Some("message") => {
                for block in message["content"].as_array().into_iter().flatten() {
                    read.events.extend(self.start_block(block.clone()));
                    self.arguments = block.get("input").map(Value::to_string).unwrap_or_default();
                    self.finish_block();
                }
                self.add_usage(&message["usage"]);
                self.set_reason(&message["stop_reason"]);
            }
            _ => {}
        }
        Ok(read)
    }

    fn finish(&mut self, how: EndOfReply) -> Vec<Result<ChatEvent, ModelError>> {
        self.finish_block();
        let reason = self.reason.take().or((how == EndOfReply::Marked).then_some(Ok(StopReason::Done)));
        // The text and the calls are enough without reasoning, which must be sent back with its signature.
        let replay = self.blocks.iter().any(is_reasoning).then(|| {
            let is_blank = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
            let is_sent = |block: &Value| !is_blank(&block["text"]) && block["signature"] != "";
            save_replay(REPLAY, self.blocks.drain(..).filter(is_sent).collect())
        });
        end(std::mem::take(&mut self.calls), self.usage.take(), reason, replay)
    }
}

impl Reader {
    fn start_block(&mut self, block: Value) -> Option<ChatEvent> {
        // The previous one may lack its end.
        self.finish_block();
        self.is_call_open = block["type"] == "tool_use";
        let event = match block["type"].as_str() {
            Some("thinking") => text_of(&block["thinking"]).map(ChatEvent::Thinking),
            Some("text") => text_of(&block["text"]).map(ChatEvent::Text),
            _ => None,
        };
        self.blocks.push(if block.is_object() { block } else { json!({}) });
        event
    }

    fn extend_block(&mut self, delta: &Value) -> Result<Option<ChatEvent>, ModelError> {
        let Some(block) = self.blocks.last_mut() else { return Ok(None) };
        let mut extend = |field: &str| {
            let text = text_of(&delta[field])?;
            match &mut block[field] {
                Value::String(before) => before.push_str(&text),
                missing => *missing = Value::String(text.clone()),
            }
            Some(text)
        };
        if let Some(part) = delta["partial_json"].as_str() {
            add_arguments(&mut self.arguments, part)?;
            return Ok(None);
        }
        extend("signature");
        Ok(extend("thinking").map(ChatEvent::Thinking).or_else(|| extend("text").map(ChatEvent::Text)))
    }

    fn finish_block(&mut self) {
        let arguments = parse_arguments(&std::mem::take(&mut self.arguments));
        let is_call_open = std::mem::take(&mut self.is_call_open);
        let Some(block) = self.blocks.last_mut().filter(|_| is_call_open) else { return };
        let text = |field: &str| block[field].as_str().unwrap_or_default().to_owned();
        let call = ToolCall { id: call_id(&block["id"]), name: text("name"), arguments };
        block["id"] = json!(call.id);
        block["input"] = valid_arguments(&call);
        self.calls.push(call);
    }

    fn set_reason(&mut self, reason: &Value) {
        self.reason = match reason.as_str() {
            Some("max_tokens" | "model_context_window_exceeded") => Some(Ok(StopReason::Length)),
            Some("refusal") => Some(Err(ModelError::ContentFilter)),
            Some(_) => Some(Ok(StopReason::Done)),
            None => return,
        };
    }

    /// Adds the counts of a message. Later ones replace earlier ones.
    fn add_usage(&mut self, counts: &Value) {
        let count = |field: &str| tokens(&counts[field]);
        let usage = self.usage.get_or_insert_default();
        let (read, written) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
        if let Some(input) = count("input_tokens") {
            // It includes neither cache reads nor cache writes.
            usage.input_tokens = input + read.unwrap_or(0) + written.unwrap_or(0);
            usage.cached_tokens = read.unwrap_or(0);
            usage.cache_write_tokens = written.unwrap_or(0);
        }
        usage.output_tokens = count("output_tokens").unwrap_or(usage.output_tokens);
        let reasoning = counts.pointer("/output_tokens_details/thinking_tokens").and_then(tokens);
        usage.reasoning_tokens = reasoning.unwrap_or(usage.reasoning_tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_leaves_room_for_the_answer() {
        let request = ChatRequest { messages: vec![ChatMessage::user("Hi")], ..ChatRequest::default() };
        let thinking = |max_output_tokens: u64| {
            let reasoning = Some(Reasoning::High);
            let options = RequestOptions {
                model: "claude-sonnet-4-5",
                reasoning,
                max_output_tokens: Some(max_output_tokens),
            };
            Anthropic.call(&request, &options).body["thinking"]["budget_tokens"].clone()
        };
        assert_eq!(thinking(64_000), 24_000);
        assert_eq!(thinking(4096), 2048);
        assert_eq!(thinking(1500), Value::Null, "the API accepts no smaller budget");
    }

    #[test]
    fn text_without_words_is_not_sent() {
        let arguments = json!({});
        let call = ToolCall { id: "c".into(), name: "look".into(), arguments };
        let reply = ChatMessage::Assistant { text: "\n\n".into(), tool_calls: vec![call], replay: None };
        assert_eq!(message(&reply)["content"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn versions_are_read_from_names() {
        for (model, expected) in [
            ("claude-sonnet-4-5-20250929", Some((4, 5))),
            ("claude-opus-4-20250514", Some((4, 0))),
            ("claude-3-5-haiku-latest", Some((3, 5))),
            ("claude-opus-5", Some((5, 0))),
            ("anthropic.claude-opus-4.8", Some((4, 8))),
            ("someone-elses", None),
        ] {
            assert_eq!(version(model), expected, "{model}");
        }
    }
}
