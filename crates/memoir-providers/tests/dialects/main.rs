//! Tests of every provider's API against the scripted provider: one contract and one table of faults for all.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

mod contract;
mod embeddings;
mod faults;
mod local;
mod ollama;
mod prompt_cache;

use std::time::Duration;

use futures::StreamExt as _;
use memoir_core::{ToolCall, ToolSpec, Usage};
use memoir_models::{
    Catalog, ChatEvent, ChatMessage, ChatModel, ChatRequest, ModelError, ModelName, Provider, Replay,
    StopReason,
};
use memoir_providers::{CallOptions, Endpoint, OllamaModel, RemoteModel};
use memoir_testkit::ScriptedProvider;
use secrecy::SecretString;
use serde_json::json;

/// One model per provider. Several providers share OpenAI's API but are called in different ways.
const MODELS: [&str; 7] = [
    "anthropic/claude-sonnet-4-5",
    "google/gemini-2.5-pro",
    "openai/gpt-5",
    "openai/gpt-6.1-terra",
    "xai/grok-3",
    "ollama/test-model",
    "openai-compatible/qwen3-max",
];

const KEY: &str = "key-never-to-be-seen";

fn name(model: &str) -> ModelName {
    model.parse().unwrap()
}

fn model_at(model: &str, url: String, options: CallOptions) -> Box<dyn ChatModel> {
    let name = name(model);
    let endpoint = Endpoint::new(name.provider, url, Some(SecretString::from(KEY))).unwrap();
    if name.provider == Provider::Ollama {
        return Box::new(OllamaModel::new(&name, &endpoint, None, options).unwrap());
    }
    let info = Catalog::built_in().unwrap().model(&name).cloned();
    Box::new(RemoteModel::new(&name, &endpoint, info, options).unwrap())
}

fn model(model: &str, provider: &ScriptedProvider) -> Box<dyn ChatModel> {
    let options = CallOptions { idle_timeout: Duration::from_secs(20), ..CallOptions::default() };
    model_at(model, provider.root_url(), options)
}

/// A request with one message and one tool.
fn request(text: &str) -> ChatRequest {
    ChatRequest {
        system: "Be brief.".into(),
        messages: vec![ChatMessage::user(text)],
        stable_messages: 0,
        max_output_tokens: None,
        memory: memoir_core::Recollection::default(),
        tools: vec![ToolSpec::new(
            "look",
            "Look at something.",
            json!({"type": "object", "properties": {"at": {"type": "string"}}}),
        )],
    }
}

/// The collected events of a call.
#[derive(Debug, Default)]
struct Outcome {
    text: String,
    pieces: usize,
    thinking: String,
    calls: Vec<ToolCall>,
    usage: Usage,
    replay: Option<Replay>,
    stop: Option<StopReason>,
}

async fn call(model: &dyn ChatModel, request: ChatRequest) -> Result<Outcome, ModelError> {
    let mut outcome = Outcome::default();
    let mut stream = model.stream(request).await?;
    while let Some(event) = stream.next().await {
        match event? {
            ChatEvent::Text(text) => {
                outcome.text.push_str(&text);
                outcome.pieces += 1;
            }
            ChatEvent::Thinking(text) => outcome.thinking.push_str(&text),
            ChatEvent::ToolCall(call) => outcome.calls.push(call),
            ChatEvent::Usage(usage) => outcome.usage += usage,
            ChatEvent::Retrying { .. } => {}
            ChatEvent::End(finish) => {
                outcome.replay = finish.replay;
                outcome.stop = Some(finish.reason);
            }
        }
    }
    Ok(outcome)
}
