//! Work in the background: who is at what, what failed, and when it is tried again.

use async_trait::async_trait;
use memoir_core::{ConversationId, Subject, SubjectKind, Timestamp, WorkerKind};
use serde::Serialize;

use crate::{Embeddable, Result};

/// What is looked for, by whom.
#[derive(Debug, Clone)]
pub struct Claim<'a> {
    /// The work.
    pub worker: WorkerKind,
    /// Skip work on this conversation because it is still active.
    pub except: Option<ConversationId>,
    /// Only subjects of this kind.
    pub only: Option<SubjectKind>,
    /// Whether a model summarises: then what was made of quotations is made anew, and digests are prepared.
    pub with_model: bool,
    /// Which vectors are missing.
    pub embeddable: Embeddable<'a>,
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
    /// What it is about.
    pub subject: Subject,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Job {
    /// Its number.
    pub id: i64,
    /// The worker whose job it is.
    pub worker: WorkerKind,
    /// What it is about.
    pub subject: Subject,
    /// How often it has failed.
    pub attempts: u32,
    /// Why, the last time.
    pub last_error: Option<String>,
    /// Since when.
    pub updated: Timestamp,
}

/// Taking on work and giving it back.
#[async_trait]
pub trait Jobs: Send + Sync {
    /// Takes on the newest pieces of work that are due and that nobody is at, so many at most, and all of one kind.
    async fn claim(&self, claim: &Claim<'_>, limit: u32) -> Result<Vec<Claimed>>;

    /// How much there is to do, whether it is due or not; what failed for good is left out.
    async fn pending(&self, claim: &Claim<'_>) -> Result<u64>;

    /// When after `now` the next piece of work is due that failed before, if any is waiting.
    async fn next_due(&self, worker: WorkerKind, now: Timestamp) -> Result<Option<Timestamp>>;

    /// Gives work back that was not done, without blame.
    async fn release(&self, worker: WorkerKind, subjects: &[Subject]) -> Result<()>;

    /// Returns the owners of all active leases.
    async fn lease_holders(&self) -> Result<Vec<String>>;

    /// Extends every lease held by `owner` until `until`.
    async fn renew(&self, owner: &str, until: Timestamp) -> Result<()>;

    /// Says which conversation is going on at someone's, or none: nobody summarises it until then.
    async fn hold_conversation(
        &self,
        owner: &str,
        conversation: Option<ConversationId>,
        until: Timestamp,
    ) -> Result<()>;

    /// Releases every lease held by `owner`. Call this when the owning process is known to be dead.
    async fn release_all_of(&self, owner: &str) -> Result<()>;

    /// Notes that it failed. Says of how much; of what was deleted meanwhile there is nothing to note it on.
    async fn fail(
        &self,
        worker: WorkerKind,
        subjects: &[Subject],
        failure: &JobFailure,
        now: Timestamp,
    ) -> Result<u64>;

    /// How much failed for good.
    async fn failed_count(&self) -> Result<u64>;

    /// What failed for good, the latest first.
    async fn failed_jobs(&self, limit: u32) -> Result<Vec<Job>>;

    /// Lets what failed for good be tried again: one job, or all. Says how many.
    async fn retry_jobs(&self, id: Option<i64>, now: Timestamp) -> Result<u64>;

    /// Gives up what failed for good: one job, or all. Says how many. It is not looked for any more, until a conversation
    /// grows or another model is set.
    async fn purge_jobs(&self, id: Option<i64>) -> Result<u64>;

    /// Forgets what failed for a worker, or was given up: another model may do it.
    async fn forget_failures(&self, worker: WorkerKind) -> Result<()>;
}
