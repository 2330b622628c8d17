//! Converts requests to Ollama's JSON, and its reply lines to events.

use std::sync::atomic::{AtomicU64, Ordering};

use memoir_core::{ToolCall, ToolSpec, Usage};
use memoir_models::{ChatEvent, ChatMessage, ChatRequest, Finish, ModelError, StopReason};
use serde_json::{Value, json};

use crate::{
    secret::Secret,
    status::{server_message, shorten},
};

/// Converts the system prompt and the messages.
pub(super) fn messages(request: &ChatRequest) -> Value {
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
    let arguments = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
    json!({"function": {"name": call.name, "arguments": arguments}})
}

pub(super) fn tools(specs: &[ToolSpec]) -> Value {
    let function = |spec: &ToolSpec| json!({"name": spec.name, "description": spec.description, "parameters": spec.parameters});
    specs.iter().map(|spec| json!({"type": "function", "function": function(spec)})).collect()
}

/// Splits bytes into complete lines. It buffers bytes, not text, because a chunk may end within a character.
#[derive(Default)]
pub(super) struct LineBuffer(Vec<u8>);

impl LineBuffer {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn next_line(&mut self) -> Option<Vec<u8>> {
        let end = self.0.iter().position(|byte| *byte == b'\n')?;
        Some(self.0.drain(..=end).collect())
    }
}

/// Converts the lines of one reply to events.
#[derive(Default)]
pub(super) struct ReplyReader {
    calls: Vec<ToolCall>,
}

impl ReplyReader {
    /// Returns the events in one line.
    pub(super) fn read(&mut self, line: &[u8], secret: &Secret) -> Vec<Result<ChatEvent, ModelError>> {
        if line.trim_ascii().is_empty() {
            return Vec::new();
        }
        let Ok(line) = serde_json::from_slice::<Value>(line) else {
            return vec![Err(ModelError::InvalidResponse(shorten(
                &secret.redact(&String::from_utf8_lossy(line)),
            )))];
        };
        if line.get("error").is_some() {
            let message = server_message(&secret.redact(&line.to_string()));
            return vec![Err(ModelError::Server { status: 500, retry_after: None, message })];
        }
        let message = &line["message"];
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let mut events = Vec::new();
        events.extend(text(&message["thinking"]).map(ChatEvent::Thinking));
        events.extend(text(&message["content"]).map(ChatEvent::Text));
        self.calls.extend(message["tool_calls"].as_array().into_iter().flatten().map(tool_call));
        if line["done"] == true {
            events.extend(std::mem::take(&mut self.calls).into_iter().map(ChatEvent::ToolCall));
            events.extend(line["eval_count"].is_u64().then(|| ChatEvent::Usage(usage(&line))));
            let reason = if line["done_reason"] == "length" { StopReason::Length } else { StopReason::Done };
            events.push(ChatEvent::End(Finish { reason, replay: None }));
        }
        events.into_iter().map(Ok).collect()
    }
}

/// Converts a tool call. Ollama matches results to calls by order and often omits the id, so one is generated.
fn tool_call(value: &Value) -> ToolCall {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = value["id"].as_str().map(str::to_owned);
    let function = &value["function"];
    let arguments = match &function["arguments"] {
        Value::Null => json!({}),
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
        object => object.clone(),
    };
    ToolCall {
        id: id.unwrap_or_else(|| format!("call_{}", NEXT.fetch_add(1, Ordering::Relaxed))),
        name: function["name"].as_str().unwrap_or_default().to_owned(),
        arguments,
    }
}

fn usage(line: &Value) -> Usage {
    let count = |key: &str| line[key].as_u64().unwrap_or(0);
    Usage {
        input_tokens: count("prompt_eval_count"),
        output_tokens: count("eval_count"),
        cached_tokens: count("prompt_eval_cached_count"),
        ..Usage::default()
    }
}
