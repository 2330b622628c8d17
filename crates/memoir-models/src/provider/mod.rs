//! Models on a server, reached through genai.

mod failure;
mod request;

use std::time::Duration;

use async_trait::async_trait;
use futures::{Stream, StreamExt as _};
use genai::{
    Client, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{self, ChatOptions, ChatStreamEvent, ContentPart, StreamEnd},
    resolver::{AuthData, Endpoint as GenaiEndpoint},
};
use memoir_core::{ToolCall, Usage, Usd};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, Finish, ModelError, ModelName, StopReason, ThinkingBlock,
};

/// How long a stream may be silent. Reasoning models think for a while before the first word.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Connecting takes a moment or is not going to happen.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Where a provider is reached, and with which key.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The base address, as the provider's own SDK takes it.
    pub base_url: String,
    /// The key. A local server may need none.
    pub key: Option<SecretString>,
}

/// A model on a server.
pub struct RemoteModel {
    name: String,
    client: Client,
    target: ServiceTarget,
    url: String,
}

impl RemoteModel {
    /// A model reached at `endpoint`.
    pub fn new(name: &ModelName, endpoint: &Endpoint) -> Result<Self, ModelError> {
        let url = base_url(&endpoint.base_url);
        let key = endpoint
            .key
            .as_ref()
            .map_or_else(String::new, |key| key.expose_secret().to_owned());
        Ok(Self {
            name: name.to_string(),
            client: Client::builder()
                .with_reqwest(http_client()?)
                .build()
                .map_err(unexpected)?,
            target: ServiceTarget {
                endpoint: GenaiEndpoint::from_owned(url.as_str()),
                auth: AuthData::from_single(key),
                model: ModelIden::new(AdapterKind::OpenAI, name.model.as_str()),
            },
            url,
        })
    }
}

#[async_trait]
impl ChatModel for RemoteModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, ModelError> {
        let options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_tool_calls(true)
            .with_capture_reasoning_content(true)
            .with_stream_header_timeout(IDLE_TIMEOUT)
            .with_stream_read_timeout(IDLE_TIMEOUT);
        let url = self.url.clone();
        let response = self
            .client
            .exec_chat_stream(self.target.clone(), request::from_ours(request), Some(&options))
            .await
            .map_err(|error| failure::classify(&error, &url, IDLE_TIMEOUT))?;
        Ok(events(response.stream, url).boxed())
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        // No price is known yet, and an unknown price is not zero.
        None
    }
}

/// From genai's events to ours. The first failure ends the stream, and so does an end that never came.
fn events(
    stream: impl Stream<Item = genai::Result<ChatStreamEvent>> + Send + 'static,
    url: String,
) -> impl Stream<Item = Result<ChatEvent, ModelError>> + Send + 'static {
    let state = Some((Box::pin(stream), url));
    futures::stream::unfold(state, |state| async move {
        let (mut stream, url) = state?;
        let (events, ended) = match stream.next().await {
            None => (vec![Err(ModelError::Truncated)], true),
            Some(Err(error)) => (vec![Err(failure::classify(&error, &url, IDLE_TIMEOUT))], true),
            Some(Ok(ChatStreamEvent::Chunk(chunk))) => (vec![Ok(ChatEvent::Text(chunk.content))], false),
            Some(Ok(ChatStreamEvent::ReasoningChunk(chunk))) => {
                (vec![Ok(ChatEvent::Thinking(chunk.content))], false)
            }
            Some(Ok(ChatStreamEvent::End(end))) => (last_events(end), true),
            // Tool calls are taken whole from the end; their chunks are of no use before.
            Some(Ok(
                ChatStreamEvent::Start
                | ChatStreamEvent::Heartbeat
                | ChatStreamEvent::ToolCallChunk(_)
                | ChatStreamEvent::ThoughtSignatureChunk(_),
            )) => (Vec::new(), false),
        };
        let next = (!ended).then_some((stream, url));
        Some((futures::stream::iter(events), next))
    })
    .flatten()
}

/// What only the end of a stream tells: tool calls, usage, and why it ended.
fn last_events(end: StreamEnd) -> Vec<Result<ChatEvent, ModelError>> {
    let usage = end.captured_usage.as_ref().map(usage).unwrap_or_default();
    let reason = match end.captured_stop_reason {
        Some(chat::StopReason::MaxTokens(_)) => StopReason::Length,
        _ => StopReason::Done,
    };
    let (mut calls, mut thinking): (Vec<ToolCall>, Vec<ThinkingBlock>) = (Vec::new(), Vec::new());
    for part in end
        .captured_content
        .into_iter()
        .flat_map(chat::MessageContent::into_parts)
    {
        match part {
            ContentPart::ToolCall(call) => {
                calls.push(ToolCall {
                    id: call.call_id,
                    name: call.fn_name,
                    arguments: call.fn_arguments,
                });
            }
            ContentPart::ThoughtSignature(signature) => {
                thinking.push(ThinkingBlock {
                    text: String::new(),
                    signature: Some(signature),
                });
            }
            // A signature stands before the text that it signs.
            ContentPart::ReasoningContent(text) => match thinking.last_mut() {
                Some(block) if block.text.is_empty() => block.text = text,
                _ => thinking.push(ThinkingBlock {
                    text,
                    signature: None,
                }),
            },
            _ => {}
        }
    }
    let calls = calls.into_iter().map(ChatEvent::ToolCall);
    calls
        .chain([
            ChatEvent::Usage(usage),
            ChatEvent::End(Finish { reason, thinking }),
        ])
        .map(Ok)
        .collect()
}

fn usage(usage: &chat::Usage) -> Usage {
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

/// The address as genai wants it: with a slash at its end, and with the version where only a host is given.
fn base_url(given: &str) -> String {
    let trimmed = given.trim().trim_end_matches('/');
    let has_path = trimmed
        .split_once("://")
        .map_or(trimmed, |(_, rest)| rest)
        .contains('/');
    if has_path {
        format!("{trimmed}/")
    } else {
        format!("{trimmed}/v1/")
    }
}

fn http_client() -> Result<reqwest::Client, ModelError> {
    // Choosing the TLS library is per process; a second choice is refused and changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("memoir/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(unexpected)
}

fn unexpected(error: impl std::fmt::Display) -> ModelError {
    ModelError::Garbled(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::base_url;

    #[test]
    fn a_slash_or_version_more_or_less_is_no_matter() {
        for given in [
            "http://h:1",
            "http://h:1/",
            "http://h:1/v1",
            "http://h:1/v1/",
            " http://h:1/v1// ",
        ] {
            assert_eq!(base_url(given), "http://h:1/v1/");
        }
        assert_eq!(
            base_url("https://gateway.example/openai"),
            "https://gateway.example/openai/"
        );
    }
}
