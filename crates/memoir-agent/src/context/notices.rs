//! What is to be reported about a context, and work that has to finish in time.

use std::{fmt, future::Future, panic::AssertUnwindSafe};

use futures::FutureExt as _;
use memoir_core::Recollection;
use memoir_store::StoreError;
use tokio::time::Instant;

/// What is to be reported about a context.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// What the user has to know: something of theirs was cut.
    pub(crate) important: Vec<String>,
    /// The same, but it holds for every prompt, so it is shown once.
    pub(crate) lasting: Vec<String>,
    /// Minor degradations, shown in verbose mode.
    pub(crate) details: Vec<String>,
}

impl Notices {
    pub(crate) fn append(&mut self, mut other: Self) {
        self.important.append(&mut other.important);
        self.lasting.append(&mut other.lasting);
        self.details.append(&mut other.details);
    }

    /// Returns the value, or records why there is none.
    pub(crate) fn take<T>(&mut self, result: Result<T, LeftOut>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(left_out) => {
                tracing::debug!(reason = %left_out, "a part of the context is missing, the turn goes on without it");
                self.details.push(left_out.to_string());
                None
            }
        }
    }

    /// Returns what memory gave, which is nothing if it failed, and records its notices.
    pub(crate) fn take_recollection(&mut self, recollection: Result<Recollection, LeftOut>) -> Recollection {
        let recollection = self.take(recollection).unwrap_or_default();
        self.details.extend(recollection.notices.iter().cloned());
        recollection
    }
}

/// A part of the context that is left out, and why.
#[derive(Debug, thiserror::Error)]
#[error("{part} {reason} and was left out.")]
pub(crate) struct LeftOut {
    pub(crate) part: &'static str,
    pub(crate) reason: LeftOutReason,
}

#[derive(Debug)]
pub(crate) enum LeftOutReason {
    Crashed,
    TimedOut,
    Failed(StoreError),
    Unreadable(StoreError),
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crashed => formatter.write_str("crashed"),
            Self::TimedOut => formatter.write_str("took too long"),
            Self::Failed(error) => write!(formatter, "failed ({error})"),
            Self::Unreadable(error) => write!(formatter, "could not be read ({error})"),
        }
    }
}

/// Runs `work` until the deadline. A panic in it is caught, because a bug in one layer must not cost the user the answer.
pub(crate) async fn finish_by<T>(
    deadline: Instant,
    part: &'static str,
    work: impl Future<Output = T>,
) -> Result<T, LeftOut> {
    let reason = match tokio::time::timeout_at(deadline, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(done)) => return Ok(done),
        Ok(Err(_)) => LeftOutReason::Crashed,
        Err(_) => LeftOutReason::TimedOut,
    };
    Err(LeftOut { part, reason })
}
