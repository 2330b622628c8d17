//! Notices about a context, and a deadline for the work that builds it.

use std::{fmt, future::Future, panic::AssertUnwindSafe};

use futures::FutureExt as _;
use memoir_core::Recollection;
use memoir_store::StoreError;
use tokio::time::Instant;

#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// Notices about this prompt, for example that it was truncated.
    pub(crate) important: Vec<String>,
    /// Notices that apply to every prompt, so they are shown once.
    pub(crate) recurring: Vec<String>,
    /// Minor degradations, shown only in verbose mode.
    pub(crate) details: Vec<String>,
}

impl Notices {
    pub(crate) fn append(&mut self, mut other: Self) {
        self.important.append(&mut other.important);
        self.recurring.append(&mut other.recurring);
        self.details.append(&mut other.details);
    }

    /// Returns the value, or records why the part was skipped.
    pub(crate) fn take<T>(&mut self, result: Result<T, SkippedPart>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(skipped) => {
                tracing::debug!(reason = %skipped, "the turn continues without a part of the context");
                self.details.push(skipped.to_string());
                None
            }
        }
    }

    /// Returns the result of a memory search, which is empty if the search failed, and records its notices.
    pub(crate) fn take_recollection(
        &mut self,
        recollection: Result<Recollection, SkippedPart>,
    ) -> Recollection {
        let recollection = self.take(recollection).unwrap_or_default();
        self.details.extend(recollection.notices.iter().cloned());
        recollection
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{part} {reason} and was skipped.")]
pub(crate) struct SkippedPart {
    /// The part, as the subject of a sentence.
    pub(crate) part: &'static str,
    pub(crate) reason: SkipReason,
}

#[derive(Debug)]
pub(crate) enum SkipReason {
    Crashed,
    TimedOut,
    Failed(StoreError),
    Unreadable(StoreError),
}

impl fmt::Display for SkipReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crashed => formatter.write_str("crashed"),
            Self::TimedOut => formatter.write_str("took too long"),
            Self::Failed(error) => write!(formatter, "failed ({error})"),
            Self::Unreadable(error) => write!(formatter, "could not be read ({error})"),
        }
    }
}

/// Runs `work` until the deadline. Panics are caught, because a bug in one layer must not prevent the answer.
pub(crate) async fn finish_by<T>(
    deadline: Instant,
    part: &'static str,
    work: impl Future<Output = T>,
) -> Result<T, SkippedPart> {
    let reason = match tokio::time::timeout_at(deadline, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(_)) => SkipReason::Crashed,
        Err(_) => SkipReason::TimedOut,
    };
    Err(SkippedPart { part, reason })
}
