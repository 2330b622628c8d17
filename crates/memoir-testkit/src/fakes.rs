//! A fake model and a fake clock for tests that call a library directly.
//!
//! All crates share them. A crate that this one depends on can use them in its integration tests (`tests/`),
//! but not in its unit tests, which see another copy of the traits.

use std::sync::{
    Mutex,
    atomic::{AtomicI64, Ordering},
};

use async_trait::async_trait;
use futures::StreamExt as _;
use memoir_core::{Clock, Timestamp, ToolCall, Usage, Usd};
use memoir_models::{
    ChatEvent, ChatMessage, ChatModel, ChatRequest, ChatStream, Finish, ModelError, ModelLimits, StopReason,
};
use tokio::sync::watch;

use crate::WAIT_TIMEOUT;

/// A clock that changes only when a test sets it.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Creates a clock set to `millis` milliseconds since 1970.
    pub const fn new(millis: i64) -> Self {
        Self(AtomicI64::new(millis))
    }

    /// Sets the clock to `millis` milliseconds since 1970.
    pub fn set(&self, millis: i64) {
        self.0.store(millis, Ordering::SeqCst);
    }

    /// Moves the clock forward by `millis` milliseconds.
    pub fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// The reaction of a [`FakeModel`] to a request.
#[derive(Debug, Clone)]
pub enum FakeReply {
    /// An answer with this text.
    Text(String),
    /// An answer that requests this tool call.
    ToolCall(ToolCall),
    /// A failure before the answer starts.
    Error(ModelError),
    /// An answer that never comes.
    Hang,
}

type ReplyScript = Box<dyn Fn(&ChatRequest) -> FakeReply + Send + Sync>;

/// A model that records its requests and answers them from a script.
pub struct FakeModel {
    script: ReplyScript,
    limits: ModelLimits,
    cost: Option<Usd>,
    requests: Mutex<Vec<ChatRequest>>,
    calls: watch::Sender<usize>,
}

impl FakeModel {
    /// Creates a model that answers each request with what `script` returns. Its calls are free.
    pub fn new(script: impl Fn(&ChatRequest) -> FakeReply + Send + Sync + 'static) -> Self {
        Self {
            script: Box::new(script),
            limits: ModelLimits::default(),
            cost: Some(Usd::ZERO),
            requests: Mutex::default(),
            calls: watch::Sender::new(0),
        }
    }

    /// Creates a model that always answers with this text.
    pub fn answering(text: &str) -> Self {
        let text = text.to_owned();
        Self::new(move |_| FakeReply::Text(text.clone()))
    }

    /// Creates a model that always fails and has no known price.
    pub fn failing(error: ModelError) -> Self {
        Self { cost: None, ..Self::new(move |_| FakeReply::Error(error.clone())) }
    }

    /// Creates a model that never answers.
    pub fn hanging() -> Self {
        Self::new(|_| FakeReply::Hang)
    }

    /// Sets the limits that the model reports.
    pub fn with_limits(self, limits: ModelLimits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the number of calls so far.
    pub fn calls(&self) -> usize {
        *self.calls.borrow()
    }

    /// Waits until the model has been called `count` times.
    ///
    /// # Panics
    ///
    /// Panics if that does not happen within [`WAIT_TIMEOUT`].
    pub async fn wait_for_calls(&self, count: usize) {
        let mut calls = self.calls.subscribe();
        let enough_calls = calls.wait_for(|calls| *calls >= count);
        let result = tokio::time::timeout(WAIT_TIMEOUT, enough_calls).await;
        assert!(result.is_ok(), "only {} of {count} calls were made", self.calls());
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the first message of each request that starts with a user message.
    pub fn prompts(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().filter_map(|request| read_prompt(request).map(str::to_owned)).collect()
    }
}

/// Returns the first message of a request, or `None` if it is not a user message.
pub fn read_prompt(request: &ChatRequest) -> Option<&str> {
    match request.messages.first() {
        Some(ChatMessage::User { text: prompt, .. }) => Some(prompt),
        _ => None,
    }
}

#[async_trait]
impl ChatModel for FakeModel {
    fn name(&self) -> &str {
        "test/model"
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, ModelError> {
        self.requests.lock().unwrap().push(request.clone());
        self.calls.send_modify(|calls| *calls += 1);
        let event = match (self.script)(&request) {
            FakeReply::Text(text) => ChatEvent::Text(text),
            FakeReply::ToolCall(call) => ChatEvent::ToolCall(call),
            FakeReply::Error(error) => return Err(error),
            FakeReply::Hang => return Ok(futures::stream::pending().boxed()),
        };
        let end = ChatEvent::End(Finish { reason: StopReason::Done, replay: None });
        Ok(futures::stream::iter([event, ChatEvent::Usage(Usage::default()), end].map(Ok)).boxed())
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        self.cost
    }

    async fn limits(&self) -> ModelLimits {
        self.limits
    }
}
