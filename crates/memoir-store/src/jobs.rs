//! Work in the background: who is at what, what failed, and when it is tried again.

use async_trait::async_trait;
use memoir_core::{ConversationId, Timestamp, WorkerKind};

use crate::Result;

/// What is looked for, by whom.
#[derive(Debug, Clone)]
pub struct Claim<'a> {
    /// The work.
    pub worker: WorkerKind,
    /// Nothing of this conversation: it is going on.
    pub except: Option<ConversationId>,
    /// Whether summaries that are made of quotations are made anew.
    pub redo_extracts: bool,
    /// Who looks.
    pub owner: &'a str,
    /// What time it is.
    pub now: Timestamp,
    /// Until when nobody else is to begin the same.
    pub until: Timestamp,
}

/// A piece of work that was taken on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claimed {
    /// The exchange or the conversation.
    pub subject_id: i64,
    /// How often it has failed before.
    pub attempts: u32,
}

/// How a piece of work failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFailure {
    /// Why.
    pub error: String,
    /// When it is tried again; never, if there is no moment.
    pub due: Option<Timestamp>,
}

/// Work that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its number.
    pub id: i64,
    /// Whose it is: the word for a [`WorkerKind`].
    pub worker: String,
    /// The exchange or the conversation.
    pub subject_id: i64,
    /// How often it has failed.
    pub attempts: u32,
    /// Why, the last time.
    pub last_error: Option<String>,
    /// Since when.
    pub updated: Timestamp,
}

/// Taking on work and giving it back. Summaries are looked for here; messages without vectors need no list.
#[async_trait]
pub trait Jobs: Send + Sync {
    /// Takes on the newest piece of work that is due and that nobody is at.
    async fn claim(&self, claim: &Claim<'_>) -> Result<Option<Claimed>>;

    /// How much there is to do, whether it is due or not; what failed for good is left out.
    async fn pending(&self, claim: &Claim<'_>) -> Result<u64>;

    /// When the next piece of work is due that failed before, if any is waiting.
    async fn next_due(&self, worker: WorkerKind) -> Result<Option<Timestamp>>;

    /// Gives work back that was not done, without blame.
    async fn release(&self, worker: WorkerKind, subject: i64) -> Result<()>;

    /// Notes that it failed.
    async fn fail(
        &self,
        worker: WorkerKind,
        subject: i64,
        failure: &JobFailure,
        now: Timestamp,
    ) -> Result<()>;

    /// What failed for good, the latest first.
    async fn failed_jobs(&self, limit: u32) -> Result<Vec<Job>>;

    /// Lets what failed for good be tried again: one job, or all. Says how many.
    async fn retry_jobs(&self, id: Option<i64>, now: Timestamp) -> Result<u64>;

    /// Forgets what failed for good: one job, or all. Says how many. What is still without a summary is found again.
    async fn purge_jobs(&self, id: Option<i64>) -> Result<u64>;
}
