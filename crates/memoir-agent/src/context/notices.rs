//! What is to be told about a context, and what is done in time.

use std::{future::Future, panic::AssertUnwindSafe};

use futures::FutureExt as _;
use memoir_core::Recollection;
use tokio::time::Instant;

/// What is to be told about a context.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// What the user has to know: something of his was cut.
    pub(crate) important: Vec<String>,
    /// The same, where it is so with every prompt: once is enough.
    pub(crate) lasting: Vec<String>,
    /// What went without something, for whoever wants to know.
    pub(crate) details: Vec<String>,
}

impl Notices {
    pub(crate) fn append(&mut self, mut other: Self) {
        self.important.append(&mut other.important);
        self.lasting.append(&mut other.lasting);
        self.details.append(&mut other.details);
    }

    /// The result, or a note of what went wrong.
    pub(crate) fn take<T>(&mut self, result: Result<T, String>) -> Option<T> {
        result.map_err(|notice| self.details.push(notice)).ok()
    }

    pub(crate) fn recollection(&mut self, found: Result<Recollection, String>) -> Recollection {
        let found = self.take(found).unwrap_or_default();
        self.details.extend(found.notices.iter().cloned());
        found
    }
}

/// What comes of `work` before the deadline. Not even a fault of ours in there may cost the user an answer.
pub(crate) async fn by<T>(deadline: Instant, what: &str, work: impl Future<Output = T>) -> Result<T, String> {
    match tokio::time::timeout_at(deadline, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(_)) => Err(left_out(what, "crashed")),
        Err(_) => Err(left_out(what, "took too long")),
    }
}

pub(crate) fn left_out(what: &str, why: &str) -> String {
    format!("{what} {why} and was left out.")
}
