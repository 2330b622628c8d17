//! OpenAI's chat completions, which most other servers implement as well, each in its own way.

use memoir_core::{Image, ToolCall, Usage};
use memoir_models::{ChatEvent, ChatRequest, ModelError, Provider, StopReason, ToolResult};
use serde_json::{Value, json};

use super::{
    Call, Dialect, EndOfReply, MessageFormat, Read, ReplyReader, RequestOptions, add_arguments, bearer,
    call_id, chat_messages, check_arguments, check_parts, data_url, effort, end, function_tools,
    parse_arguments, save_replay, text_of, think::ThinkSplitter, tokens, valid_arguments,
};
use crate::secret::Secret;

/// Key of the reasoning in a [`memoir_models::Replay`].
const REPLAY: &str = "openai";

/// Name under which most servers send reasoning, and some of them expect it back.
const REASONING: &str = "reasoning_content";

/// Name under which others send it. They reject it in a request.
const REASONING_FOR_DISPLAY: &str = "reasoning";

pub(super) struct OpenAi {
    pub(super) provider: Provider,
}

impl Dialect for OpenAi {
    fn call(&self, request: &ChatRequest, options: &RequestOptions<'_>) -> Call {
        let mut body = json!({
            "model": options.model,
            "messages": chat_messages(request, &FORMAT),
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        if !request.tools.is_empty() {
            body["tools"] = function_tools(&request.tools);
        }
        // Without a limit, a local server may generate until its context is full.
        if let Some(limit) = options.max_output_tokens.filter(|_| self.provider == Provider::OpenAiCompatible)
        {
            body["max_tokens"] = json!(limit);
        }
        if let Some(reasoning) = options.reasoning {
            body["reasoning_effort"] = json!(effort(reasoning));
        }
        Call { path: "chat/completions".into(), body }
    }

    fn key_headers(&self, secret: &Secret) -> Vec<(&'static str, String)> {
        bearer(secret)
    }

    fn takes(&self, media_type: &str) -> bool {
        self.provider != Provider::Xai || matches!(media_type, "image/jpeg" | "image/png")
    }

    fn reader(&self) -> Box<dyn ReplyReader> {
        Box::new(Reader {
            has_separate_reasoning: self.provider == Provider::Xai,
            splitter: (self.provider == Provider::OpenAiCompatible).then(ThinkSplitter::default),
            reasoning: String::new(),
            calls: Vec::new(),
            usage: None,
            reason: None,
        })
    }
}

const FORMAT: MessageFormat =
    MessageFormat { replay: REPLAY, reasoning: REASONING, call, result, add_images };

fn call(call: &ToolCall) -> Value {
    let function = json!({"name": call.name, "arguments": valid_arguments(call).to_string()});
    json!({"id": call.id, "type": "function", "function": function})
}

fn result(result: &ToolResult) -> Value {
    json!({"role": "tool", "tool_call_id": result.call_id, "content": result.text})
}

fn add_images(message: &mut Value, images: &[Image]) {
    let text = json!({"type": "text", "text": message["content"]});
    let image = |image: &Image| json!({"type": "image_url", "image_url": {"url": data_url(image)}});
    message["content"] = [text].into_iter().chain(images.iter().map(image)).collect();
}

/// A tool call whose arguments arrive in parts.
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

struct Reader {
    /// Whether the output tokens that the server reports do not include reasoning.
    has_separate_reasoning: bool,
    /// Present if the server may send reasoning as part of the answer.
    splitter: Option<ThinkSplitter>,
    reasoning: String,
    calls: Vec<PartialCall>,
    usage: Option<Usage>,
    reason: Option<Result<StopReason, ModelError>>,
}

impl ReplyReader for Reader {
    fn read(&mut self, message: &Value) -> Result<Read, ModelError> {
        let mut events = Vec::new();
        // Servers report usage in a message of its own or in any other.
        if message["usage"].is_object() {
            self.usage = Some(usage(&message["usage"], self.has_separate_reasoning));
        }
        for choice in message["choices"].as_array().into_iter().flatten() {
            // A reply that is not streamed has a message instead of a delta.
            let is_streamed = choice["delta"].is_object();
            let delta = if is_streamed { &choice["delta"] } else { &choice["message"] };
            if let Some(reasoning) = text_of(&delta[REASONING]) {
                self.reasoning.push_str(&reasoning);
                events.push(ChatEvent::Thinking(reasoning));
            } else {
                events.extend(text_of(&delta[REASONING_FOR_DISPLAY]).map(ChatEvent::Thinking));
            }
            if let Some(text) = text_of(&delta["content"]) {
                match &mut self.splitter {
                    Some(splitter) => events.extend(splitter.push(&text)),
                    None => events.push(ChatEvent::Text(text)),
                }
            }
            events.extend(text_of(&delta["refusal"]).map(ChatEvent::Text));
            for call in delta["tool_calls"].as_array().into_iter().flatten() {
                self.add_call(call)?;
            }
            match choice["finish_reason"].as_str() {
                Some("length") => self.reason = Some(Ok(StopReason::Length)),
                Some("content_filter") => self.reason = Some(Err(ModelError::ContentFilter)),
                Some(_) => self.reason = Some(Ok(StopReason::Done)),
                None if !is_streamed && delta.is_object() => self.reason = Some(Ok(StopReason::Done)),
                None => {}
            }
        }
        Ok(Read { events, is_last: false })
    }

    fn finish(&mut self, how: EndOfReply) -> Vec<Result<ChatEvent, ModelError>> {
        // Not every server gives a reason.
        let reason = self.reason.take().or((how == EndOfReply::Marked).then_some(Ok(StopReason::Done)));
        let replay = (!self.reasoning.is_empty()).then(|| save_replay(REPLAY, json!(self.reasoning)));
        let calls = std::mem::take(&mut self.calls).into_iter().map(|call| ToolCall {
            id: call_id(&Value::String(call.id)),
            name: call.name,
            arguments: parse_arguments(&call.arguments),
        });
        let rest = self.splitter.as_mut().and_then(ThinkSplitter::finish).map(Ok);
        rest.into_iter().chain(end(calls.collect(), self.usage.take(), reason, replay)).collect()
    }
}

impl Reader {
    /// Adds a part of a call to the call with its index. Some servers give every call the same index but another id, and
    /// others give every part another id, but only the first part a name.
    fn add_call(&mut self, part: &Value) -> Result<(), ModelError> {
        let index = part["index"].as_u64();
        let id = part["id"].as_str().unwrap_or_default();
        let function = &part["function"];
        let name = function["name"].as_str().unwrap_or_default();
        let arguments = match &function["arguments"] {
            Value::String(text) => text.clone(),
            Value::Object(_) => function["arguments"].to_string(),
            _ => String::new(),
        };
        let is_new =
            |call: &PartialCall| !name.is_empty() && !id.is_empty() && !call.id.is_empty() && call.id != id;
        let last = self.calls.iter_mut().rev().find(|call| index.is_none() || call.index == index);
        match last.filter(|call| !is_new(call)) {
            Some(call) => {
                add_arguments(&mut call.arguments, &arguments)?;
                for (known, new) in [(&mut call.id, id), (&mut call.name, name)] {
                    if known.is_empty() {
                        *known = new.to_owned();
                    }
                }
            }
            None => {
                check_parts(self.calls.len())?;
                check_arguments(arguments.len())?;
                let (id, name) = (id.to_owned(), name.to_owned());
                self.calls.push(PartialCall { index, id, name, arguments });
            }
        }
        Ok(())
    }
}

fn usage(value: &Value, has_separate_reasoning: bool) -> Usage {
    let count = |pointer: &str| value.pointer(pointer).and_then(tokens).unwrap_or(0);
    let reasoning_tokens = count("/completion_tokens_details/reasoning_tokens");
    Usage {
        input_tokens: count("/prompt_tokens"),
        output_tokens: count("/completion_tokens")
            + if has_separate_reasoning { reasoning_tokens } else { 0 },
        cached_tokens: count("/prompt_tokens_details/cached_tokens"),
        cache_write_tokens: count("/prompt_tokens_details/cache_creation_tokens"),
        reasoning_tokens,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    /// Returns the names and arguments of the calls in these parts.
    fn read(parts: &[Value]) -> Vec<(String, String)> {
        let mut reader = OpenAi { provider: Provider::OpenAiCompatible }.reader();
        for part in parts {
            reader.read(&json!({"choices": [{"delta": {"tool_calls": [part]}}]})).unwrap();
        }
        let events = reader.finish(EndOfReply::Marked).into_iter();
        let calls = events.filter_map(|event| match event {
            Ok(ChatEvent::ToolCall(call)) => Some((call.name, call.arguments.to_string())),
            _ => None,
        });
        calls.collect()
    }

    #[test]
    fn parts_of_calls_are_joined_however_a_server_numbers_them() {
        let part = |index: Value, id: &str, name: &str, arguments: &str| json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
        let one = [("a".to_owned(), "{\"x\":1}".to_owned())];
        let usual = [part(json!(0), "c1", "a", "{\"x\""), part(json!(0), "", "", ":1}")];
        assert_eq!(read(&usual), one);
        let new_ids = [part(json!(0), "c1", "a", "{\"x\""), part(json!(0), "c2", "", ":1}")];
        assert_eq!(read(&new_ids), one, "another id for each part");
        let unnumbered = [part(Value::Null, "c1", "a", "{\"x\""), part(Value::Null, "", "", ":1}")];
        assert_eq!(read(&unnumbered), one);
        let same_index = [part(json!(0), "c1", "a", "{}"), part(json!(0), "c2", "a", "{}")];
        assert_eq!(read(&same_index).len(), 2, "one index for two calls");
    }
}
