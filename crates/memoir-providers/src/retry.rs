//! Calm when a provider fails: transient failures are tried again, after a while.

use std::{sync::Arc, time::Duration};

use async_stream::stream;
use async_trait::async_trait;
use backon::BackoffBuilder as _;
use futures::StreamExt as _;
use memoir_core::{Provenance, Usage, Usd};
use memoir_models::{ChatEvent, ChatModel, ChatRequest, ChatStream, ModelError, ModelLimits};

/// How often a server that cannot be reached is tried again.
const MOST_UNREACHABLE: usize = 2;

/// How often, and after how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How many times a failed call is made again.
    pub attempts: usize,
    /// How long is waited before the first of them; each further wait is twice as long, with jitter.
    pub first_wait: Duration,
    /// A server that asks for a longer wait than this is not waited for: a person would rather know.
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 4, first_wait: Duration::from_secs(1), longest_wait: Duration::from_secs(60) }
    }
}

impl RetryPolicy {
    /// The waits between attempts. Jitter keeps many clients from coming back at the same moment.
    fn waits(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        backon::ExponentialBuilder::default()
            .with_min_delay(self.first_wait)
            .with_max_delay(self.longest_wait)
            .with_max_times(self.attempts)
            .with_jitter()
            .build()
    }

    /// How long to wait after `error`, which is failure number `failures`, if it is to be waited at all.
    fn wait(&self, error: &ModelError, failures: usize, planned: Option<Duration>) -> Option<Duration> {
        let planned = planned.filter(|_| error.is_transient())?;
        // A server that is not there seldom comes while one waits; a wrong address never does.
        if matches!(error, ModelError::Unreachable { .. }) && failures > MOST_UNREACHABLE {
            return None;
        }
        match error.retry_after() {
            Some(asked) if asked > self.longest_wait => None,
            Some(asked) => Some(asked),
            None => Some(planned.min(self.longest_wait)),
        }
    }
}

/// A model whose transient failures are tried again, as long as nothing of the answer has been given out.
/// Dropping the stream ends it at once, in the middle of a wait too.
pub struct Retrying<M> {
    model: Arc<M>,
    policy: RetryPolicy,
}

impl<M: ChatModel> Retrying<M> {
    /// `model`, made calm.
    pub fn new(model: M, policy: RetryPolicy) -> Self {
        Self { model: Arc::new(model), policy }
    }
}

#[async_trait]
impl<M: ChatModel + 'static> ChatModel for Retrying<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, ModelError> {
        let (model, policy) = (Arc::clone(&self.model), self.policy);
        Ok(stream! {
            let mut waits = policy.waits();
            let mut failures = 0;
            loop {
                let failure = match model.stream(request.clone()).await {
                    Err(error) => error,
                    Ok(mut events) => match events.next().await {
                        // Nothing has been given out yet, so that a failure can be taken back.
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
                failures += 1;
                match policy.wait(&failure, failures, waits.next()) {
                    Some(wait) => {
                        let (model, error) = (model.name(), failure.kind());
                        tracing::warn!(model, error, failures, ?wait, "a call failed and is made again");
                        // What a server says may quote the prompt.
                        tracing::trace!(model, %failure, "the failure in full");
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
    fn the_server_decides_how_long_within_reason() {
        let policy = RetryPolicy::default();
        let planned = Some(Duration::from_secs(2));
        assert_eq!(policy.wait(&limited(None), 1, planned), planned);
        assert_eq!(policy.wait(&limited(Some(7)), 1, planned), Some(Duration::from_secs(7)));
        assert_eq!(policy.wait(&limited(Some(3600)), 1, planned), None, "nobody waits an hour at a prompt");
        assert_eq!(policy.wait(&limited(Some(1)), 1, None), None, "the attempts are used up");
        assert_eq!(policy.wait(&ModelError::Empty, 1, planned), None);
    }

    #[test]
    fn waits_double_with_jitter_and_end() {
        let waits: Vec<_> = RetryPolicy::default().waits().collect();
        assert_eq!(waits.len(), 4);
        for (wait, least) in waits.iter().zip([1, 2, 4, 8]) {
            assert!(
                *wait >= Duration::from_secs(least) && *wait <= Duration::from_secs(2 * least),
                "{waits:?}"
            );
        }
    }
}
