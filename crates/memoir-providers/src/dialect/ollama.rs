//! Ollama's own API.

use std::sync::atomic::{AtomicU64, Ordering};

use memoir_core::{ToolCall, Usage};
use memoir_models::{ChatEvent, ChatMessage, ChatRequest, ModelError, StopReason};
use serde_json::{Value, json};

use super::{
    Call, Dialect, EndOfReply, Framing, Read, ReplyReader, RequestOptions, bearer, effort, end,
    function_tools, parse_arguments, text_of, think::ThinkSplitter, tokens, valid_arguments,
};
use crate::secret::Secret;

pub(crate) struct Ollama {
    /// The context size for which the server loads the model.
    pub(crate) context_size: u64,
}

impl Dialect for Ollama {
    fn call(&self, request: &ChatRequest, options: &RequestOptions<'_>) -> Call {
        let mut body = json!({
            "model": options.model,
            "messages": messages(request),
            "stream": true,
            "options": {"num_ctx": self.context_size},
        });
        if !request.tools.is_empty() {
            body["tools"] = function_tools(&request.tools);
        }
        if let Some(reasoning) = options.reasoning {
            body["think"] = json!(effort(reasoning));
        }
        Call { path: "api/chat".into(), body }
    }

    fn key_headers(&self, secret: &Secret) -> Vec<(&'static str, String)> {
        bearer(secret)
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn reader(&self) -> Box<dyn ReplyReader> {
        Box::new(Reader::default())
    }
}

/// Converts the system prompt and the messages.
fn messages(request: &ChatRequest) -> Value {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    for message in &request.messages {
        match message {
            ChatMessage::User(text) => messages.push(json!({"role": "user", "content": text})),
            ChatMessage::Assistant { text, tool_calls, .. } => {
                let mut reply = json!({"role": "assistant", "content": text});
                if !tool_calls.is_empty() {
                    reply["tool_calls"] = tool_calls.iter().map(call).collect();
                }
                messages.push(reply);
            }
            ChatMessage::ToolResults(results) => messages.extend(results.iter().map(
                |result| json!({"role": "tool", "tool_name": result.tool_name, "content": result.text}),
            )),
        }
    }
    Value::Array(messages)
}

fn call(call: &ToolCall) -> Value {
    json!({"function": {"name": call.name, "arguments": valid_arguments(call)}})
}

#[derive(Default)]
struct Reader {
    splitter: ThinkSplitter,
    calls: Vec<ToolCall>,
    usage: Option<Usage>,
    reason: Option<StopReason>,
}

impl ReplyReader for Reader {
    fn read(&mut self, message: &Value) -> Result<Read, ModelError> {
        if message.get("message").is_none() && message.get("done").is_none() {
            return Err(ModelError::InvalidResponse("it has neither a message nor an end".into()));
        }
        let reply = &message["message"];
        let thinking = text_of(&reply["thinking"]).map(ChatEvent::Thinking);
        let content = reply["content"].as_str().unwrap_or_default();
        let events = thinking.into_iter().chain(self.splitter.push(content)).collect();
        self.calls.extend(reply["tool_calls"].as_array().into_iter().flatten().map(tool_call));
        let is_last = message["done"] == true;
        if is_last {
            self.usage = message["eval_count"].is_u64().then(|| usage(message));
            self.reason = Some(match message["done_reason"].as_str() {
                Some("length") => StopReason::Length,
                _ => StopReason::Done,
            });
        }
        Ok(Read { events, is_last })
    }

    fn finish(&mut self, _: EndOfReply) -> Vec<Result<ChatEvent, ModelError>> {
        let last = end(std::mem::take(&mut self.calls), self.usage.take(), self.reason.take().map(Ok), None);
        self.splitter.finish().map(Ok).into_iter().chain(last).collect()
    }
}

/// Converts a tool call. Ollama matches results to calls by order and often omits the id, so one is generated.
fn tool_call(value: &Value) -> ToolCall {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let function = &value["function"];
    let arguments = match &function["arguments"] {
        Value::Null => json!({}),
        Value::String(text) => parse_arguments(text),
        object => object.clone(),
    };
    ToolCall {
        id: text_of(&value["id"]).unwrap_or_else(|| format!("call_{}", NEXT.fetch_add(1, Ordering::Relaxed))),
        name: function["name"].as_str().unwrap_or_default().to_owned(),
        arguments,
    }
}

fn usage(message: &Value) -> Usage {
    let count = |key: &str| tokens(&message[key]).unwrap_or(0);
    Usage {
        input_tokens: count("prompt_eval_count"),
        output_tokens: count("eval_count"),
        cached_tokens: count("prompt_eval_cached_count"),
        ..Usage::default()
    }
}
