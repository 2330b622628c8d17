//! The interface to chat models: requests, streamed events and complete answers.

use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt as _, stream::BoxStream};
use memoir_core::{
    CallCost, Image, Provenance, Purpose, Recollection, Timestamp, ToolCall, ToolSpec, Usage, Usd,
};
use serde_json::Value;

use crate::ModelError;

/// The input of one call.
#[derive(Debug, Clone, Default)]
pub struct ChatRequest {
    /// The system prompt, or empty to send none.
    pub system: String,
    /// The conversation so far, oldest message first. The last message is the one to answer.
    pub messages: Vec<ChatMessage>,
    /// Number of leading messages that the next request will repeat. A provider with explicit cache breakpoints gets
    /// one after them.
    pub stable_messages: usize,
    /// Tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// Passages recalled for the prompt. The messages already quote them; `memoir/recall`, which answers with passages
    /// instead of generating text, reads them here.
    pub memory: Recollection,
    /// Maximum number of output tokens, for providers that require one.
    pub max_output_tokens: Option<u64>,
}

/// The limits of a model. `None` means unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelLimits {
    /// Size of the context window in tokens, including the answer.
    pub context: Option<u64>,
    /// Maximum number of output tokens.
    pub output: Option<u64>,
    /// Whether the model can call tools.
    pub tools: Option<bool>,
    /// Whether the model can see images.
    pub images: Option<bool>,
}

/// One message of a request.
#[derive(Debug, Clone)]
pub enum ChatMessage {
    /// A message from the user.
    User {
        /// The text of the message, which describes the images.
        text: String,
        /// The images, for models that can see them.
        images: Vec<Image>,
    },
    /// An earlier reply of the model.
    Assistant {
        /// The text of the reply.
        text: String,
        /// The tool calls in the reply.
        tool_calls: Vec<ToolCall>,
        /// The reply in its provider's own format. Only present within the current exchange.
        replay: Option<Replay>,
    },
    /// The results of all tool calls in one reply.
    ToolResults(Vec<ToolResult>),
}

impl ChatRequest {
    /// Removes all images and returns them. The texts still describe them.
    pub fn take_images(&mut self) -> Vec<Image> {
        self.image_lists().flat_map(std::mem::take).collect()
    }

    /// Keeps only some images. The texts still describe the others.
    pub fn retain_images(&mut self, keep: impl Fn(&Image) -> bool) {
        self.image_lists().for_each(|images| images.retain(&keep));
    }

    fn image_lists(&mut self) -> impl Iterator<Item = &mut Vec<Image>> {
        self.messages.iter_mut().flat_map(|message| match message {
            ChatMessage::User { images, .. } => vec![images],
            ChatMessage::Assistant { .. } => Vec::new(),
            ChatMessage::ToolResults(results) => {
                results.iter_mut().map(|result| &mut result.images).collect()
            }
        })
    }
}

impl ChatMessage {
    /// Creates a message from the user without images.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }
}

/// A reply in its provider's own format, to be sent back unchanged: thinking blocks and tool calls with their
/// signatures. Providers reject a continuation whose thinking was omitted or changed.
///
/// Only the [`ChatModel`] implementation that wrote this JSON can read it. Other implementations send the text and the
/// tool calls of the message instead.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay(Value);

impl Replay {
    /// Wraps a reply in its provider's own format.
    pub fn new(content: Value) -> Self {
        Self(content)
    }

    /// Returns the reply in its provider's own format.
    pub fn into_content(self) -> Value {
        self.0
    }

    /// Returns the content as text, for counting tokens.
    pub fn to_text(&self) -> String {
        self.0.to_string()
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// Id of the tool call.
    pub call_id: String,
    /// Name of the tool.
    pub tool_name: String,
    /// The tool's output, or the reason it failed. It describes the images.
    pub text: String,
    /// The images, for models that can see them.
    pub images: Vec<Image>,
}

/// An event in a model's answer.
#[derive(Debug, Clone)]
pub enum ChatEvent {
    /// The next part of the answer.
    Text(String),
    /// The next part of the reasoning, for display only.
    Thinking(String),
    /// A complete tool call.
    ToolCall(ToolCall),
    /// Tokens used by the call.
    Usage(Usage),
    /// The call failed before it returned anything and will be retried.
    Retrying {
        /// Why the call failed.
        reason: ModelError,
        /// Time until the retry.
        wait: Duration,
    },
    /// The end of the answer. A stream without this event was cut off.
    End(Finish),
}

/// How an answer ended.
#[derive(Debug, Clone)]
pub struct Finish {
    /// Why the model stopped.
    pub reason: StopReason,
    /// The reply in its provider's own format, if that holds more than text and tool calls.
    pub replay: Option<Replay>,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The answer is complete, or the model called tools.
    Done,
    /// The output limit was reached.
    Length,
}

/// A streamed answer. An error is its last item.
pub type ChatStream = BoxStream<'static, Result<ChatEvent, ModelError>>;

/// A chat model.
///
/// Implementations are in `memoir-providers` (models on a server), `memoir-recall` (`memoir/recall`) and, for tests,
/// `memoir-testkit`.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Returns the full name, as in `openai/gpt-5-mini`.
    fn name(&self) -> &str;

    /// Sends a request and returns the answer as a stream, which ends with [`ChatEvent::End`].
    ///
    /// Dropping the stream cancels the call.
    ///
    /// # Errors
    ///
    /// Fails if the call fails before the stream begins. A later failure is the last item of the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, ModelError>;

    /// Returns the cost of a call, or `None` if the price is unknown.
    fn cost(&self, usage: &Usage) -> Option<Usd>;

    /// Returns the limits of the model. This may query the server; if it does not answer, the limits are unknown.
    async fn limits(&self) -> ModelLimits {
        ModelLimits::default()
    }

    /// Returns whether calls are free of charge.
    fn is_free(&self) -> bool {
        false
    }

    /// Returns whether answers are new text or quoted from memory.
    fn provenance(&self) -> Provenance {
        Provenance::Original
    }
}

/// Returns the cost record of a call.
pub fn price_call(model: &dyn ChatModel, purpose: Purpose, usage: Usage, created: Timestamp) -> CallCost {
    CallCost { purpose, model: model.name().to_owned(), usage, cost: model.cost(&usage), created }
}

/// An answer after its stream has ended, as returned by [`collect_answer`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompleteAnswer {
    /// The answer's text, without reasoning.
    pub text: String,
    /// Why the model stopped.
    pub stop: StopReason,
}

/// Sends a request and collects the complete answer. `usage` receives the tokens used, even if the call fails. Reading
/// stops after `max_bytes` of answer and reasoning.
///
/// # Errors
///
/// Fails if the call fails, or with [`ModelError::Truncated`] if the stream ends early.
pub async fn collect_answer(
    model: &dyn ChatModel,
    request: ChatRequest,
    usage: &mut Option<Usage>,
    max_bytes: usize,
) -> Result<CompleteAnswer, ModelError> {
    let mut stream = model.stream(request).await?;
    let (mut answer, mut thinking_bytes) = (String::new(), 0);
    while let Some(event) = stream.next().await {
        match event? {
            ChatEvent::Text(text) => answer.push_str(&text),
            ChatEvent::Thinking(text) => thinking_bytes += text.len(),
            ChatEvent::Usage(call_usage) => *usage.get_or_insert_default() += call_usage,
            ChatEvent::End(finish) => return Ok(CompleteAnswer { text: answer, stop: finish.reason }),
            ChatEvent::ToolCall(_) | ChatEvent::Retrying { .. } => {}
        }
        if answer.len() + thinking_bytes > max_bytes {
            return Ok(CompleteAnswer { text: answer, stop: StopReason::Length });
        }
    }
    Err(ModelError::Truncated)
}
