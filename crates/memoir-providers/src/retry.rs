//! Retries of chat model calls after transient failures.

use std::{sync::Arc, time::Duration};

use async_stream::stream;
use async_trait::async_trait;
use backon::BackoffBuilder as _;
use futures::StreamExt as _;
use memoir_core::{Provenance, Usage, Usd};
use memoir_models::{ChatEvent, ChatModel, ChatRequest, ChatStream, ModelError, ModelLimits};
use tokio::time::Instant;

/// Maximum number of retries if the server is unreachable.
const MAX_UNREACHABLE_RETRIES: usize = 2;

/// How long to wait for a server that is still loading its model.
pub const MAX_LOADING_TIME: Duration = Duration::from_secs(300);

/// How often a server that is still loading its model is asked again.
pub const LOADING_INTERVAL: Duration = Duration::from_millis(500);

/// How often and after what wait a failed call is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum number of retries.
    pub max_retries: usize,
    /// Wait before the first retry. It doubles with each retry, with jitter added.
    pub first_wait: Duration,
    /// Maximum wait. If the server asks for more, the call fails so that the user learns about it.
    pub max_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_retries: 4, first_wait: Duration::from_secs(1), max_wait: Duration::from_secs(60) }
    }
}

impl RetryPolicy {
    /// Returns the waits between attempts. Jitter keeps clients from retrying at the same moment.
    fn waits(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        backon::ExponentialBuilder::default()
            .with_min_delay(self.first_wait)
            .with_max_delay(self.max_wait)
            .with_max_times(self.max_retries)
            .with_jitter()
            .build()
    }

    /// Returns the wait after `error`, which is failure number `failures`, or `None` to give up.
    fn wait(&self, error: &ModelError, failures: usize, planned: Option<Duration>) -> Option<Duration> {
        let planned = planned.filter(|_| error.is_transient())?;
        // An unreachable server rarely appears while we wait, and a wrong address never works.
        if matches!(error, ModelError::Unreachable { .. }) && failures > MAX_UNREACHABLE_RETRIES {
            return None;
        }
        match error.retry_after() {
            Some(requested) if requested > self.max_wait => None,
            Some(requested) => Some(requested),
            None => Some(planned.min(self.max_wait)),
        }
    }
}

/// A model that retries transient failures, as long as it has not yielded any part of the answer. Dropping the stream
/// cancels the call immediately, even during a wait.
pub struct RetryingModel<M> {
    model: Arc<M>,
    policy: RetryPolicy,
}

impl<M: ChatModel> RetryingModel<M> {
    /// Wraps `model` so that its calls are retried according to `policy`.
    pub fn new(model: M, policy: RetryPolicy) -> Self {
        Self { model: Arc::new(model), policy }
    }
}

#[async_trait]
impl<M: ChatModel + 'static> ChatModel for RetryingModel<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, ModelError> {
        let (model, policy) = (Arc::clone(&self.model), self.policy);
        Ok(stream! {
            let mut waits = policy.waits();
            let mut failures = 0;
            let mut loading_since = None;
            loop {
                let failure = match model.stream(request.clone()).await {
                    Err(error) => error,
                    Ok(mut events) => match events.next().await {
                        // Nothing has been yielded yet, so the call can be retried.
                        Some(Err(error)) => error,
                        None => ModelError::Truncated,
                        Some(first) => {
                            yield first;
                            while let Some(event) = events.next().await {
                                yield event;
                            }
                            return;
                        }
                    },
                };
                if matches!(failure, ModelError::Loading) && policy.max_retries > 0 {
                    let is_first = loading_since.is_none();
                    if loading_since.get_or_insert_with(Instant::now).elapsed() < MAX_LOADING_TIME {
                        if is_first {
                            yield Ok(ChatEvent::Retrying { reason: failure, wait: LOADING_INTERVAL });
                        }
                        tokio::time::sleep(LOADING_INTERVAL).await;
                        continue;
                    }
                }
                failures += 1;
                match policy.wait(&failure, failures, waits.next()) {
                    Some(wait) => {
                        let (model, error) = (model.name(), failure.kind());
                        tracing::warn!(model, error, failures, ?wait, "a call failed and will be retried");
                        // The full message may quote the prompt.
                        tracing::trace!(model, %failure, "full error message");
                        yield Ok(ChatEvent::Retrying { reason: failure, wait });
                        tokio::time::sleep(wait).await;
                    }
                    None => {
                        yield Err(failure);
                        return;
                    }
                }
            }
        }
        .boxed())
    }

    fn cost(&self, usage: &Usage) -> Option<Usd> {
        self.model.cost(usage)
    }

    async fn limits(&self) -> ModelLimits {
        self.model.limits().await
    }

    fn is_free(&self) -> bool {
        self.model.is_free()
    }

    fn provenance(&self) -> Provenance {
        self.model.provenance()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(retry_after: Option<u64>) -> ModelError {
        ModelError::RateLimited { retry_after: retry_after.map(Duration::from_secs), message: String::new() }
    }

    #[test]
    fn the_server_sets_the_wait_up_to_a_limit() {
        let policy = RetryPolicy::default();
        let planned = Some(Duration::from_secs(2));
        assert_eq!(policy.wait(&limited(None), 1, planned), planned);
        assert_eq!(policy.wait(&limited(Some(7)), 1, planned), Some(Duration::from_secs(7)));
        assert_eq!(policy.wait(&limited(Some(3600)), 1, planned), None, "an hour is too long");
        assert_eq!(policy.wait(&limited(Some(1)), 1, None), None, "no retries remain");
        assert_eq!(policy.wait(&ModelError::Empty, 1, planned), None);
    }

    #[test]
    fn waits_double_with_jitter_and_end() {
        let waits: Vec<_> = RetryPolicy::default().waits().collect();
        assert_eq!(waits.len(), 4);
        for (wait, min) in waits.iter().zip([1, 2, 4, 8]) {
            assert!(*wait >= Duration::from_secs(min) && *wait <= Duration::from_secs(2 * min), "{waits:?}");
        }
    }
}
