//! The conversation between Memoir and a chat model: what is sent, what comes back.

use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt as _, stream::BoxStream};
use memoir_core::{CallCost, Provenance, Purpose, Recollection, Timestamp, ToolCall, ToolSpec, Usage, Usd};
use serde_json::Value;

use crate::ModelError;

/// Everything that is sent in one call.
#[derive(Debug, Clone, Default)]
pub struct ChatRequest {
    /// Standing instructions.
    pub system: String,
    /// The talk so far, oldest first, ending with what is to be answered.
    pub messages: Vec<ChatMessage>,
    /// How many of the messages, from the first, will stand at the same place in the next request too.
    /// Providers that cache a prompt by breakpoints get one there.
    pub stable_messages: usize,
    /// What the model may ask to run.
    pub tools: Vec<ToolSpec>,
    /// What was recalled for it. It stands in the messages already, for models that read; this is for the one
    /// that answers with it.
    pub memory: Recollection,
    /// How long the answer may be, where a provider wants to be told.
    pub longest_reply: Option<u64>,
}

/// What a model takes, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelLimits {
    /// Tokens, question and answer together.
    pub context: Option<u64>,
    /// Tokens of an answer.
    pub output: Option<u64>,
    /// Whether it can call tools.
    pub tools: Option<bool>,
}

/// One message of a request.
#[derive(Debug, Clone)]
pub enum ChatMessage {
    /// The user's words.
    User(String),
    /// The model's own earlier words.
    Assistant {
        /// What it said.
        text: String,
        /// What it asked to run.
        tool_calls: Vec<ToolCall>,
        /// The reply in its provider's own form, where it was given within this exchange.
        replay: Option<Replay>,
    },
    /// What its tool calls gave, all those of one reply together.
    ToolResults(Vec<ToolResult>),
}

/// A reply in its provider's own form, to be sent back as it came: thinking blocks with their signatures,
/// calls with theirs. Providers refuse a continuation whose thoughts were left out or changed.
///
/// The content is JSON that only the implementation of [`ChatModel`] that wrote it can read. Another implementation
/// sends the text and the tool calls of the message instead.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay(Value);

impl Replay {
    /// Wraps a reply that a model has written in its own form.
    pub fn new(content: Value) -> Self {
        Self(content)
    }

    /// Returns the reply in its provider's own form.
    pub fn into_content(self) -> Value {
        self.0
    }

    /// Returns the content as text, for counting tokens.
    pub fn to_text(&self) -> String {
        self.0.to_string()
    }
}

/// What a tool call gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call this answers.
    pub call_id: String,
    /// The tool that ran.
    pub tool_name: String,
    /// Its output, or why there is none.
    pub text: String,
}

/// What comes back while a model answers.
#[derive(Debug, Clone)]
pub enum ChatEvent {
    /// More of the answer.
    Text(String),
    /// More of the reasoning, for showing.
    Thinking(String),
    /// A complete request to run a tool.
    ToolCall(ToolCall),
    /// What the call used.
    Usage(Usage),
    /// The call failed before it gave anything, and is made again after a while.
    Retrying {
        /// What went wrong.
        reason: ModelError,
        /// How long is waited.
        wait: Duration,
    },
    /// The end. A stream without it was cut off.
    End(Finish),
}

/// How an answer ended.
#[derive(Debug, Clone)]
pub struct Finish {
    /// Why the model stopped.
    pub reason: StopReason,
    /// The reply in its provider's own form, where that holds more than text and calls.
    pub replay: Option<Replay>,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It had said all it wanted, or asked for tools.
    Done,
    /// It reached the limit on its output.
    Length,
}

/// A model's answer as it comes.
pub type ChatStream = BoxStream<'static, Result<ChatEvent, ModelError>>;

/// A chat model.
///
/// Implementations are in `memoir-providers` (models on a server), in `memoir-recall` (`memoir/recall`) and, for tests, in
/// `memoir-testkit`.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Its full name, as in `openai/gpt-5-mini`.
    fn name(&self) -> &str;

    /// Sends a request and returns the answer as a stream, which ends with [`ChatEvent::End`].
    ///
    /// Dropping the stream cancels the call.
    ///
    /// # Errors
    ///
    /// Fails with the reason, as a [`ModelError`], if the call fails before the stream begins. A call that fails later yields the
    /// error as the last item of the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, ModelError>;

    /// What a call that used this much costs, where the price is known.
    fn cost(&self, usage: &Usage) -> Option<Usd>;

    /// Returns what the model takes. This may ask a server; if that does not answer, the limits are unknown.
    async fn limits(&self) -> ModelLimits {
        ModelLimits::default()
    }

    /// Whether its calls cost nothing, however much they use.
    fn is_free(&self) -> bool {
        false
    }

    /// Whether its answers are new text or repeat what memory holds.
    fn provenance(&self) -> Provenance {
        Provenance::Said
    }
}

/// The bill of a call, where the provider told what it used.
pub fn bill(model: &dyn ChatModel, purpose: Purpose, usage: Usage, created: Timestamp) -> CallCost {
    CallCost { purpose, model: model.name().to_owned(), usage, cost: model.cost(&usage), created }
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeAnswer {
    /// What it says.
    pub text: String,
    /// Why it ended.
    pub stop: StopReason,
}

/// Returns the whole answer to a request. `usage` receives what the call used, even if it fails. Reading stops after `most`
/// bytes.
///
/// # Errors
///
/// Fails if the call fails, or with [`ModelError::Truncated`] if the stream ends early.
pub async fn whole_answer(
    model: &dyn ChatModel,
    request: ChatRequest,
    usage: &mut Option<Usage>,
    most: usize,
) -> Result<WholeAnswer, ModelError> {
    let mut stream = model.stream(request).await?;
    let (mut answer, mut thoughts) = (String::new(), 0);
    while let Some(event) = stream.next().await {
        match event? {
            ChatEvent::Text(text) => answer.push_str(&text),
            ChatEvent::Thinking(text) => thoughts += text.len(),
            ChatEvent::Usage(used) => *usage.get_or_insert_default() += used,
            ChatEvent::End(finish) => return Ok(WholeAnswer { text: answer, stop: finish.reason }),
            ChatEvent::ToolCall(_) | ChatEvent::Retrying { .. } => {}
        }
        if answer.len() + thoughts > most {
            return Ok(WholeAnswer { text: answer, stop: StopReason::Length });
        }
    }
    Err(ModelError::Truncated)
}
