//! Models on a server, reached through genai.

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
pub(crate) use failure::Failures;

/// A model on a server.
pub struct RemoteModel {
    name: String,
    provider: Provider,
    info: Option<ModelInfo>,
    client: Client,
    target: ServiceTarget,
    options: CallOptions,
    failures: Failures,
    /// Whether it runs on this machine, where nothing is paid.
    free: bool,
}

impl RemoteModel {
    /// Creates a client for the model at `endpoint`. `info` is its entry in the catalogue, with its limits and its price.
    /// Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails if no HTTP client can be made.
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
            failures: Failures::new(endpoint, options.idle_timeout),
            // The others are known to be far away; on loopback there is only a gateway to them.
            free: name.provider == Provider::OpenAiCompatible && endpoint.is_loopback(),
        })
    }

    fn chat_options(&self, longest_reply: Option<u64>) -> ChatOptions {
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
            // Question and answer have to fit together, or nothing is answered at all.
            let output = longest_reply.map_or(output, |longest| longest.min(output));
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
            // Left to itself genai takes an effort from the end of a name ("qwen3-max") and cuts it off. In
            // this dialect a budget is an effort that is not sent.
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
        let options = guard::watched(self.chat_options(request.longest_reply));
        let request = request::from_ours(request, self.provider);
        let response = self
            .client
            .exec_chat_stream(self.target.clone(), request, Some(&options))
            .await
            .map_err(|error| self.failures.classify(&error))?;
        Ok(events(response.stream, self.provider, self.failures.clone()).boxed())
    }

    fn cost(&self, usage: &Usage) -> Option<Usd> {
        let listed = self.info.as_ref().and_then(|info| info.cost(usage));
        if self.free { listed.or(Some(Usd::ZERO)) } else { listed }
    }

    async fn limits(&self) -> ModelLimits {
        self.info.as_ref().map(ModelInfo::limits).unwrap_or_default()
    }

    fn is_free(&self) -> bool {
        self.free && self.info.as_ref().is_none_or(|info| info.price.is_none())
    }
}

/// genai over the shared HTTP client.
pub(crate) fn create_genai_client() -> Result<Client, ModelError> {
    let built = Client::builder().with_reqwest(http::client()?).build();
    built.map_err(|error| ModelError::Garbled(error.to_string()))
}

/// Where and as what genai reaches a model.
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

/// From genai's events to ours. The first failure ends the stream, and so does an end that never came.
fn events(
    stream: impl Stream<Item = genai::Result<ChatStreamEvent>> + Send + 'static,
    provider: Provider,
    failures: Failures,
) -> impl Stream<Item = Result<ChatEvent, ModelError>> + Send + 'static {
    async_stream::stream! {
        let mut stream = Box::pin(stream);
        let mut begun = false;
        loop {
            let event = match guard::next(&mut stream).await {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(error) => {
                    yield Err(error);
                    return;
                }
            };
            begun |= !matches!(event, Ok(ChatStreamEvent::Start));
            match event {
                Err(error) => {
                    yield Err(failures.classify(&error));
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
                // Tool calls are taken whole from the end; their chunks are of no use before.
                Ok(
                    ChatStreamEvent::Start
                    | ChatStreamEvent::Heartbeat
                    | ChatStreamEvent::ToolCallChunk(_)
                    | ChatStreamEvent::ThoughtSignatureChunk(_),
                ) => {}
            }
        }
        yield Err(if begun { ModelError::Truncated } else { no_stream() });
    }
}

/// A body without a single event is no stream that was cut, and will be none the next time.
fn no_stream() -> ModelError {
    ModelError::Garbled("no event came".into())
}

/// What only the end of a stream tells: tool calls, usage, and why it ended.
fn last_events(end: StreamEnd, provider: Provider) -> Vec<Result<ChatEvent, ModelError>> {
    let usage = end.captured_usage.as_ref().map(|theirs| ChatEvent::Usage(convert_usage(theirs)));
    let reason = match end.captured_stop_reason {
        Some(chat::StopReason::ContentFilter(_)) => {
            return usage.map(Ok).into_iter().chain([Err(ModelError::ContentFilter)]).collect();
        }
        Some(chat::StopReason::MaxTokens(_)) => StopReason::Length,
        // genai ends a Gemini stream that was cut off as if it were complete; only the reason is missing.
        None if provider == Provider::Google => {
            let nothing = end.captured_content.is_none();
            let error = if nothing { no_stream() } else { ModelError::Truncated };
            return usage.filter(|_| !nothing).map(Ok).into_iter().chain([Err(error)]).collect();
        }
        _ => StopReason::Done,
    };
    let mut calls = Vec::new();
    let parts = end.captured_content.into_iter().flat_map(chat::MessageContent::into_parts).collect();
    let parts = without_copies(parts).into_iter().map(|part| keep_call(part, &mut calls));
    let parts: Vec<ContentPart> = parts.collect();
    let replay = if parts.is_empty() { None } else { replay::write(chat::MessageContent::from_parts(parts)) };
    let calls = calls.into_iter().map(ChatEvent::ToolCall);
    calls.chain(usage).chain([ChatEvent::End(Finish { reason, replay })]).map(Ok).collect()
}

/// Where the first call of a stream is not numbered 0, genai fills the places before it with copies of how it began. The last of one id is
/// the call.
fn without_copies(mut parts: Vec<ContentPart>) -> Vec<ContentPart> {
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

/// Notes a tool call, and makes what is sent back of it valid: arguments that are no JSON object are refused
/// by some providers even as history. The call that we run keeps what the model wrote.
fn keep_call(part: ContentPart, calls: &mut Vec<ToolCall>) -> ContentPart {
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
