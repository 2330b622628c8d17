//! Ollama's own API.

use memoir_core::{Image, ToolCall, Usage};
use memoir_models::{ChatEvent, ChatRequest, ModelError, StopReason, ToolResult};
use serde_json::{Value, json};

use super::{
    Call, Dialect, EndOfReply, Framing, MessageFormat, Read, ReplyReader, RequestOptions, bearer, call_id,
    chat_messages, check_parts, effort, encode, end, function_tools, parse_arguments, save_replay, text_of,
    think::ThinkSplitter, tokens, valid_arguments,
};
use crate::secret::Secret;

/// Key of the reasoning in a [`memoir_models::Replay`].
const REPLAY: &str = "ollama";

/// Name under which the server sends reasoning, and expects it back.
const THINKING: &str = "thinking";

/// Beginning of the names of models that take an effort. Others can only turn reasoning on.
const MODELS_WITH_EFFORTS: &str = "gpt-oss";

pub(crate) struct Ollama {
    /// The context size for which the server loads the model.
    pub(crate) context_size: u64,
    /// Whether the model can reason. The server rejects the request for it otherwise.
    pub(crate) can_think: bool,
}

impl Dialect for Ollama {
    fn call(&self, request: &ChatRequest, options: &RequestOptions<'_>) -> Call {
        let mut body = json!({
            "model": options.model,
            "messages": chat_messages(request, &FORMAT),
            "stream": true,
            "options": {"num_ctx": self.context_size},
        });
        if let Some(limit) = options.max_output_tokens {
            // The server's default is no limit.
            body["options"]["num_predict"] = json!(limit);
        }
        if !request.tools.is_empty() {
            body["tools"] = function_tools(&request.tools);
        }
        if let Some(reasoning) = options.reasoning.filter(|_| self.can_think) {
            let has_efforts = options.model.starts_with(MODELS_WITH_EFFORTS);
            body["think"] = if has_efforts { json!(effort(reasoning)) } else { json!(true) };
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

const FORMAT: MessageFormat = MessageFormat { replay: REPLAY, reasoning: THINKING, call, result, add_images };

fn call(call: &ToolCall) -> Value {
    json!({"function": {"name": call.name, "arguments": valid_arguments(call)}})
}

fn result(result: &ToolResult) -> Value {
    json!({"role": "tool", "tool_name": result.tool_name, "content": result.text})
}

fn add_images(message: &mut Value, images: &[Image]) {
    message["images"] = images.iter().map(encode).collect();
}

#[derive(Default)]
struct Reader {
    splitter: ThinkSplitter,
    reasoning: String,
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
        let thinking = text_of(&reply[THINKING]);
        self.reasoning.push_str(thinking.as_deref().unwrap_or_default());
        let thinking = thinking.map(ChatEvent::Thinking);
        let content = reply["content"].as_str().unwrap_or_default();
        let events = thinking.into_iter().chain(self.splitter.push(content)).collect();
        self.calls.extend(reply["tool_calls"].as_array().into_iter().flatten().map(tool_call));
        check_parts(self.calls.len())?;
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
        // Only a model that is calling tools continues its reasoning.
        let is_needed = !self.reasoning.is_empty() && !self.calls.is_empty();
        let replay = is_needed.then(|| save_replay(REPLAY, json!(self.reasoning)));
        let last =
            end(std::mem::take(&mut self.calls), self.usage.take(), self.reason.take().map(Ok), replay);
        self.splitter.finish().map(Ok).into_iter().chain(last).collect()
    }
}

/// Converts a tool call. Ollama matches results to calls by order and often omits the id.
fn tool_call(value: &Value) -> ToolCall {
    let function = &value["function"];
    let arguments = match &function["arguments"] {
        Value::Null => json!({}),
        Value::String(text) => parse_arguments(text),
        object => object.clone(),
    };
    ToolCall {
        id: call_id(&value["id"]),
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
