//! Google's Gemini.

use memoir_core::{Image, ToolCall, ToolSpec, Usage};
use memoir_models::{ChatEvent, ChatMessage, ChatRequest, ModelError, StopReason};
use serde_json::{Value, json};

use super::{
    Call, Dialect, EndOfReply, Read, ReplyReader, RequestOptions, call_id, check_parts, encode, end,
    read_replay, save_replay, text_of, tokens, valid_arguments,
};
use crate::{Reasoning, secret::Secret};

/// Key of the parts in a [`memoir_models::Replay`].
const REPLAY: &str = "gemini";

/// Prefixes of the models that get a number of tokens for reasoning. Later ones get a level.
const MODELS_WITH_BUDGET: [&str; 1] = ["gemini-2.5"];

/// Prefixes of the models that do not reason, and reject requests that mention it.
const MODELS_WITHOUT_REASONING: [&str; 4] = ["gemini-1", "gemini-2.0", "gemma", "learnlm"];

/// Prefix of the models that reason only if they get tokens for it, and otherwise reject requests that mention it.
const MODELS_WITH_OPTIONAL_REASONING: &str = "gemini-2.5-flash-lite";

/// Why the filter stops an answer.
const FILTERED: [&str; 7] =
    ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY"];

pub(super) struct Gemini;

impl Dialect for Gemini {
    fn call(&self, request: &ChatRequest, options: &RequestOptions<'_>) -> Call {
        let contents: Value = request.messages.iter().map(content).collect();
        let mut body = json!({"contents": contents});
        if let Some(thinking) = thinking_config(options) {
            body["generationConfig"] = json!({"thinkingConfig": thinking});
        }
        if !request.system.is_empty() {
            body["systemInstruction"] = json!({"parts": [{"text": request.system}]});
        }
        if !request.tools.is_empty() {
            let declarations: Value = request.tools.iter().map(tool).collect();
            body["tools"] = json!([{"functionDeclarations": declarations}]);
        }
        Call { path: format!("models/{}:streamGenerateContent?alt=sse", options.model), body }
    }

    fn key_headers(&self, secret: &Secret) -> Vec<(&'static str, String)> {
        vec![("x-goog-api-key", secret.expose().to_owned())]
    }

    fn takes(&self, media_type: &str) -> bool {
        media_type != "image/gif"
    }

    fn reader(&self) -> Box<dyn ReplyReader> {
        Box::new(Reader::default())
    }
}

/// Returns how the model reasons, unless it does not.
fn thinking_config(options: &RequestOptions<'_>) -> Option<Value> {
    let is_any = |prefixes: &[&str]| prefixes.iter().any(|prefix| options.model.starts_with(prefix));
    if is_any(&MODELS_WITHOUT_REASONING) {
        return None;
    }
    let mut config = json!({"includeThoughts": true});
    let Some(reasoning) = options.reasoning else {
        return Some(config).filter(|_| !is_any(&[MODELS_WITH_OPTIONAL_REASONING]));
    };
    let (level, budget) = match reasoning {
        Reasoning::Low => ("LOW", 1024),
        Reasoning::Medium => ("MEDIUM", 8192),
        Reasoning::High => ("HIGH", 24_576),
    };
    match is_any(&MODELS_WITH_BUDGET) {
        true => config["thinkingBudget"] = json!(budget),
        false => config["thinkingLevel"] = json!(level),
    }
    Some(config)
}

fn content(message: &ChatMessage) -> Value {
    match message {
        ChatMessage::User { text, images } => {
            let parts: Vec<Value> = [json!({"text": text})].into_iter().chain(inline(images)).collect();
            json!({"role": "user", "parts": parts})
        }
        ChatMessage::Assistant { text, tool_calls, .. } => {
            let parts = read_replay(REPLAY, message).unwrap_or_else(|| {
                let text = (!text.is_empty()).then(|| json!({"text": text}));
                let call = |call: &ToolCall| json!({"functionCall": {"id": call.id, "name": call.name, "args": valid_arguments(call)}});
                text.into_iter().chain(tool_calls.iter().map(call)).collect()
            });
            json!({"role": "model", "parts": parts})
        }
        // All results of one reply must be in one content.
        ChatMessage::ToolResults(results) => {
            let part = |result: &memoir_models::ToolResult| json!({"functionResponse": {"id": result.call_id, "name": result.tool_name, "response": {"result": result.text}}});
            let images = results.iter().flat_map(|result| inline(&result.images));
            json!({"role": "user", "parts": results.iter().map(part).chain(images).collect::<Vec<_>>()})
        }
    }
}

fn inline(images: &[Image]) -> impl Iterator<Item = Value> {
    images.iter().map(|image| json!({"inlineData": {"mimeType": image.media_type(), "data": encode(image)}}))
}

fn tool(spec: &ToolSpec) -> Value {
    json!({"name": spec.name, "description": spec.description, "parametersJsonSchema": spec.parameters})
}

#[derive(Default)]
struct Reader {
    /// The parts of the reply as they are sent back.
    parts: Vec<Value>,
    calls: Vec<ToolCall>,
    usage: Option<Usage>,
    reason: Option<Result<StopReason, ModelError>>,
}

impl ReplyReader for Reader {
    fn read(&mut self, message: &Value) -> Result<Read, ModelError> {
        // A reply that is not streamed as events is a list of messages.
        if let Some(messages) = message.as_array() {
            let mut all = Read::default();
            for message in messages {
                all.events.extend(self.read(message)?.events);
            }
            return Ok(all);
        }
        if message["promptFeedback"]["blockReason"].is_string() {
            return Err(ModelError::ContentFilter);
        }
        if message["usageMetadata"].is_object() {
            self.usage = Some(usage(&message["usageMetadata"]));
        }
        let candidate = &message["candidates"][0];
        let parts = candidate["content"]["parts"].as_array().into_iter().flatten();
        let events = parts.filter_map(|part| self.read_part(part)).collect();
        check_parts(self.parts.len())?;
        match candidate["finishReason"].as_str() {
            Some("MAX_TOKENS") => self.reason = Some(Ok(StopReason::Length)),
            Some(reason) if FILTERED.contains(&reason) => self.reason = Some(Err(ModelError::ContentFilter)),
            Some(_) => self.reason = Some(Ok(StopReason::Done)),
            None => {}
        }
        Ok(Read { events, is_last: false })
    }

    fn finish(&mut self, _: EndOfReply) -> Vec<Result<ChatEvent, ModelError>> {
        // The text and the calls are enough without signatures.
        let has_signature = |part: &Value| part["thoughtSignature"].is_string();
        let replay = self
            .parts
            .iter()
            .any(has_signature)
            .then(|| save_replay(REPLAY, Value::Array(std::mem::take(&mut self.parts))));
        end(std::mem::take(&mut self.calls), self.usage.take(), self.reason.take(), replay)
    }
}

impl Reader {
    fn read_part(&mut self, part: &Value) -> Option<ChatEvent> {
        if part["thought"] == true {
            return text_of(&part["text"]).map(ChatEvent::Thinking);
        }
        let mut sent_back = part.clone();
        let function = &part["functionCall"];
        if function.is_object() {
            let call = ToolCall {
                id: call_id(&function["id"]),
                name: function["name"].as_str().unwrap_or_default().to_owned(),
                arguments: if function["args"].is_null() { json!({}) } else { function["args"].clone() },
            };
            sent_back["functionCall"]["id"] = json!(call.id);
            sent_back["functionCall"]["args"] = valid_arguments(&call);
            self.parts.push(sent_back);
            self.calls.push(call);
            return None;
        }
        let text = text_of(&part["text"]);
        let signature = part.get("thoughtSignature");
        let is_text = |last: &&mut Value| last["text"].is_string() && last.get("thoughtSignature").is_none();
        match self.parts.last_mut().filter(is_text) {
            // Parts of one text are sent back as one.
            Some(last) => {
                if let (Value::String(before), Some(text)) = (&mut last["text"], &text) {
                    before.push_str(text);
                }
                if let Some(signature) = signature {
                    last["thoughtSignature"] = signature.clone();
                }
            }
            None if text.is_some() || signature.is_some() => self.parts.push(sent_back),
            None => {}
        }
        text.map(ChatEvent::Text)
    }
}

fn usage(counts: &Value) -> Usage {
    let count = |field: &str| tokens(&counts[field]).unwrap_or(0);
    let reasoning_tokens = count("thoughtsTokenCount");
    Usage {
        input_tokens: count("promptTokenCount") + count("toolUsePromptTokenCount"),
        // It does not include reasoning.
        output_tokens: count("candidatesTokenCount") + reasoning_tokens,
        cached_tokens: count("cachedContentTokenCount"),
        cache_write_tokens: 0,
        reasoning_tokens,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_is_mentioned_only_to_models_that_can() {
        let config =
            |model, reasoning| thinking_config(&RequestOptions { model, reasoning, max_output_tokens: None });
        let high = Some(Reasoning::High);
        let shown = json!({"includeThoughts": true});
        let budget = json!({"includeThoughts": true, "thinkingBudget": 24_576});
        let level = json!({"includeThoughts": true, "thinkingLevel": "HIGH"});
        for (model, without_effort, with_effort) in [
            ("gemini-3.8-flash", Some(&shown), Some(&level)),
            ("gemini-2.5-pro", Some(&shown), Some(&budget)),
            ("gemini-2.5-flash-lite", None, Some(&budget)),
            ("gemini-2.0-flash", None, None),
            ("gemma-3-27b-it", None, None),
        ] {
            assert_eq!(config(model, None).as_ref(), without_effort, "{model}");
            assert_eq!(config(model, high).as_ref(), with_effort, "{model}");
        }
    }
}
