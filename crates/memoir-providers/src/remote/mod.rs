//! Chat models on a server, called through the genai crate.

mod failure;
mod guard;
mod replay;
mod request;

use std::collections::HashSet;

use async_trait::async_trait;
use futures::{Stream, StreamExt as _};
use genai::{
    Client, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{self, ChatOptions, ChatStreamEvent, ContentPart, ReasoningEffort, StreamEnd},
    resolver::{AuthData, Endpoint as GenaiEndpoint},
};
use memoir_core::{ToolCall, Usage, Usd};
use memoir_models::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, Finish, ModelError, ModelInfo, ModelLimits, ModelName,
    Provider, StopReason,
};
use serde_json::{Value, json};

use crate::{CallOptions, Endpoint, Reasoning, http};
pub(crate) use failure::ErrorClassifier;

/// A chat model of Anthropic, Google, OpenAI, xAI or a server that implements OpenAI's API.
pub struct RemoteModel {
    name: String,
    provider: Provider,
    info: Option<ModelInfo>,
    client: Client,
    target: ServiceTarget,
    options: CallOptions,
    errors: ErrorClassifier,
    /// Whether the model runs on this machine, where calls are free.
    is_local: bool,
}

impl RemoteModel {
    /// Creates a client for the model at `endpoint`. `info` is the model's catalog entry. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails if no HTTP client can be created.
    pub fn new(
        name: &ModelName,
        endpoint: &Endpoint,
        info: Option<ModelInfo>,
        options: CallOptions,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            name: name.to_string(),
            provider: name.provider,
            info,
            client: create_genai_client()?,
            target: create_target(name, endpoint),
            options,
            errors: ErrorClassifier::new(endpoint, options.idle_timeout),
            // Other providers run in the cloud, so a loopback address is only a gateway to them.
            is_local: name.provider == Provider::OpenAiCompatible && endpoint.is_loopback(),
        })
    }

    fn chat_options(&self, max_output_tokens: Option<u64>) -> ChatOptions {
        let mut options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_tool_calls(true)
            .with_capture_reasoning_content(true)
            .with_stream_header_timeout(self.options.idle_timeout)
            .with_stream_read_timeout(self.options.idle_timeout);
        if let (Provider::Anthropic, Some(output)) =
            (self.provider, self.info.as_ref().and_then(|info| info.output))
        {
            // Anthropic rejects a request whose input and maximum output exceed the context window together.
            let output = max_output_tokens.map_or(output, |limit| limit.min(output));
            options = options.with_max_tokens(u32::try_from(output).unwrap_or(u32::MAX));
        }
        let effort = self.options.reasoning.map(|reasoning| match reasoning {
            Reasoning::Low => ReasoningEffort::Low,
            Reasoning::Medium => ReasoningEffort::Medium,
            Reasoning::High => ReasoningEffort::High,
        });
        match (effort, self.provider) {
            (Some(effort), _) => options.with_reasoning_effort(effort),
            (None, Provider::Anthropic | Provider::Google) => options,
            // By default genai takes a name's suffix for an effort and strips it ("qwen3-max"). A budget prevents this,
            // and this API's requests don't include budgets.
            (None, _) => options.with_reasoning_effort(ReasoningEffort::Budget(0)),
        }
    }
}

#[async_trait]
impl ChatModel for RemoteModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stream(&self, mut request: ChatRequest) -> Result<ChatStream, ModelError> {
        if self.info.as_ref().is_some_and(|info| info.tools == Some(false)) {
            request.tools.clear();
        }
        let options = guard::inspect_frames(self.chat_options(request.max_output_tokens));
        let request = request::convert_request(request, self.provider);
        let response = self
            .client
            .exec_chat_stream(self.target.clone(), request, Some(&options))
            .await
            .map_err(|error| self.errors.classify(&error))?;
        Ok(convert_events(response.stream, self.provider, self.errors.clone()).boxed())
    }

    fn cost(&self, usage: &Usage) -> Option<Usd> {
        let list_price = self.info.as_ref().and_then(|info| info.cost(usage));
        if self.is_local { list_price.or(Some(Usd::ZERO)) } else { list_price }
    }

    async fn limits(&self) -> ModelLimits {
        self.info.as_ref().map(ModelInfo::limits).unwrap_or_default()
    }

    fn is_free(&self) -> bool {
        self.is_local && self.info.as_ref().is_none_or(|info| info.price.is_none())
    }
}

/// Creates a genai client that uses the shared HTTP client.
pub(crate) fn create_genai_client() -> Result<Client, ModelError> {
    let client = Client::builder().with_reqwest(http::client()?).build();
    client.map_err(|error| ModelError::InvalidResponse(error.to_string()))
}

/// Returns genai's description of a model: its API, address, key and name.
pub(crate) fn create_target(name: &ModelName, endpoint: &Endpoint) -> ServiceTarget {
    let adapter = match name.provider {
        Provider::Anthropic => AdapterKind::Anthropic,
        Provider::Google => AdapterKind::Gemini,
        Provider::Xai => AdapterKind::Xai,
        Provider::OpenAi | Provider::OpenAiCompatible | Provider::Ollama | Provider::Memoir => {
            AdapterKind::OpenAI
        }
    };
    ServiceTarget {
        endpoint: GenaiEndpoint::from_owned(endpoint.url.as_str()),
        auth: AuthData::from_single(endpoint.secret.expose()),
        model: ModelIden::new(adapter, name.model.as_str()),
    }
}

/// Converts genai's events. The stream ends with the first error; a missing end event is an error too.
fn convert_events(
    stream: impl Stream<Item = genai::Result<ChatStreamEvent>> + Send + 'static,
    provider: Provider,
    errors: ErrorClassifier,
) -> impl Stream<Item = Result<ChatEvent, ModelError>> + Send + 'static {
    async_stream::stream! {
        let mut stream = Box::pin(stream);
        let mut has_started = false;
        loop {
            let event = match guard::next(&mut stream).await {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(error) => {
                    yield Err(error);
                    return;
                }
            };
            has_started |= !matches!(event, Ok(ChatStreamEvent::Start));
            match event {
                Err(error) => {
                    yield Err(errors.classify(&error));
                    return;
                }
                Ok(ChatStreamEvent::Chunk(chunk)) => yield Ok(ChatEvent::Text(chunk.content)),
                Ok(ChatStreamEvent::ReasoningChunk(chunk)) => yield Ok(ChatEvent::Thinking(chunk.content)),
                Ok(ChatStreamEvent::End(end)) => {
                    for event in last_events(end, provider) {
                        yield event;
                    }
                    return;
                }
                // The end event contains the complete tool calls, so their chunks are not needed.
                Ok(
                    ChatStreamEvent::Start
                    | ChatStreamEvent::Heartbeat
                    | ChatStreamEvent::ToolCallChunk(_)
                    | ChatStreamEvent::ThoughtSignatureChunk(_),
                ) => {}
            }
        }
        yield Err(if has_started { ModelError::Truncated } else { no_events() });
    }
}

/// Returns the error for a body without events. It is not a truncated stream, so a retry would not help.
fn no_events() -> ModelError {
    ModelError::InvalidResponse("it contains no events".into())
}

/// Converts the end event, which holds the tool calls, the usage and the stop reason.
fn last_events(end: StreamEnd, provider: Provider) -> Vec<Result<ChatEvent, ModelError>> {
    let usage = end.captured_usage.as_ref().map(|usage| ChatEvent::Usage(convert_usage(usage)));
    let reason = match end.captured_stop_reason {
        Some(chat::StopReason::ContentFilter(_)) => {
            return usage.map(Ok).into_iter().chain([Err(ModelError::ContentFilter)]).collect();
        }
        Some(chat::StopReason::MaxTokens(_)) => StopReason::Length,
        // genai ends a truncated Gemini stream like a complete one; only the stop reason is missing.
        None if provider == Provider::Google => {
            let is_empty = end.captured_content.is_none();
            let error = if is_empty { no_events() } else { ModelError::Truncated };
            return usage.filter(|_| !is_empty).map(Ok).into_iter().chain([Err(error)]).collect();
        }
        _ => StopReason::Done,
    };
    let mut calls = Vec::new();
    let parts = end.captured_content.into_iter().flat_map(chat::MessageContent::into_parts).collect();
    let parts = remove_duplicate_calls(parts).into_iter().map(|part| collect_call(part, &mut calls));
    let parts: Vec<ContentPart> = parts.collect();
    let replay = if parts.is_empty() { None } else { replay::write(chat::MessageContent::from_parts(parts)) };
    let calls = calls.into_iter().map(ChatEvent::ToolCall);
    calls.chain(usage).chain([ChatEvent::End(Finish { reason, replay })]).map(Ok).collect()
}

/// If the first call in a stream does not have index 0, genai fills the earlier places with incomplete copies. Of the
/// calls with the same id, only the last is complete.
fn remove_duplicate_calls(mut parts: Vec<ContentPart>) -> Vec<ContentPart> {
    let mut seen = HashSet::new();
    parts.reverse();
    parts.retain(|part| match part {
        ContentPart::ToolCall(call) => {
            call.call_id.is_empty() || seen.insert((call.call_id.clone(), call.fn_name.clone()))
        }
        _ => true,
    });
    parts.reverse();
    parts
}

/// Adds a tool call to `calls` with the model's own arguments, and returns the part to be sent back. Some providers
/// reject arguments that are not a JSON object even in the history, so there they are replaced.
fn collect_call(part: ContentPart, calls: &mut Vec<ToolCall>) -> ContentPart {
    let ContentPart::ToolCall(mut call) = part else {
        return part;
    };
    if call.fn_arguments.is_null() {
        call.fn_arguments = json!({});
    }
    let (id, name, arguments) = (call.call_id.clone(), call.fn_name.clone(), call.fn_arguments.clone());
    calls.push(ToolCall { id, name, arguments });
    if !matches!(call.fn_arguments, Value::Object(_)) {
        call.fn_arguments = json!({});
    }
    ContentPart::ToolCall(call)
}

pub(crate) fn convert_usage(usage: &chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0);
    let input = usage.prompt_tokens_details.as_ref();
    let output = usage.completion_tokens_details.as_ref();
    Usage {
        input_tokens: count(usage.prompt_tokens),
        output_tokens: count(usage.completion_tokens),
        cached_tokens: count(input.and_then(|details| details.cached_tokens)),
        cache_write_tokens: count(input.and_then(|details| details.cache_creation_tokens)),
        reasoning_tokens: count(output.and_then(|details| details.reasoning_tokens)),
    }
}
