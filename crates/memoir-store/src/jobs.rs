//! Background jobs: leases, failures and retries.
//!
//! Jobs are not queued. A worker finds its work by looking for missing data, such as exchanges without a summary. The
//! store records a job only while it is leased or after it has failed.

use async_trait::async_trait;
use memoir_core::{ConversationId, Subject, SubjectKind, Timestamp, WorkerKind};
use serde::Serialize;

use crate::{EmbeddingSelection, Result};

/// A worker's request for jobs.
#[derive(Debug, Clone)]
pub struct Claim<'a> {
    /// Worker that claims the jobs.
    pub worker: WorkerKind,
    /// Skip work on this conversation because it is still active.
    pub excluded_conversation: Option<ConversationId>,
    /// Only subjects of this kind.
    pub subject_kind: Option<SubjectKind>,
    /// Whether a model is available for summaries. If so, the jobs include digests and summaries to rewrite because
    /// they were extracted without a model.
    pub with_model: bool,
    /// Selects the texts that need an embedding.
    pub embeddable: EmbeddingSelection<'a>,
    /// Process that will hold the leases.
    pub owner: &'a str,
    /// The current time. Leases that expired before it can be claimed.
    pub now: Timestamp,
    /// When the leases expire.
    pub until: Timestamp,
}

/// A job that the caller now holds a lease on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimedJob {
    /// The message, exchange, conversation, digest or chunk to process.
    pub subject: Subject,
    /// Number of earlier attempts that failed.
    pub attempts: u32,
}

/// The failure of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFailure {
    /// Description of the error.
    pub error: String,
    /// When to retry, or `None` if the job has failed permanently.
    pub due: Option<Timestamp>,
}

/// A job that has failed permanently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Job {
    /// Id that `/worker failures`, `/worker retry` and `/worker purge` accept.
    pub id: i64,
    /// The worker whose job it is.
    pub worker: WorkerKind,
    /// The message, exchange, conversation, digest or chunk to process.
    pub subject: Subject,
    /// Number of attempts that failed.
    pub attempts: u32,
    /// Description of the last error.
    pub last_error: Option<String>,
    /// When the job last failed.
    pub updated: Timestamp,
}

/// Claims, releases and retries jobs.
#[async_trait]
pub trait Jobs: Send + Sync {
    /// Claims at most `limit` jobs that are due and not leased by another owner, all with subjects of the same kind.
    async fn claim(&self, claim: &Claim<'_>, limit: u32) -> Result<Vec<ClaimedJob>>;

    /// Returns the number of outstanding jobs, due or not, without those that have failed permanently.
    async fn pending(&self, claim: &Claim<'_>) -> Result<u64>;

    /// Returns the earliest time after `now` at which a recorded job can be claimed: when its retry is due and its
    /// lease has expired.
    async fn next_due(&self, worker: WorkerKind, now: Timestamp) -> Result<Option<Timestamp>>;

    /// Releases unfinished jobs without counting a failure.
    async fn release(&self, worker: WorkerKind, subjects: &[Subject]) -> Result<()>;

    /// Returns the owners of all active leases.
    async fn lease_holders(&self) -> Result<Vec<String>>;

    /// Extends every lease held by `owner` until `until`.
    async fn renew(&self, owner: &str, until: Timestamp) -> Result<()>;

    /// Reserves the conversation that is open in `owner`'s session, so that workers do not summarize it before `until`.
    /// Replaces the owner's earlier reservation; `None` removes it.
    async fn hold_conversation(
        &self,
        owner: &str,
        conversation: Option<ConversationId>,
        until: Timestamp,
    ) -> Result<()>;

    /// Releases every lease held by `owner`. Call this when the owning process is known to be dead.
    async fn release_all(&self, owner: &str) -> Result<()>;

    /// Records a failure of claimed jobs and releases them. Returns the number of jobs updated; jobs whose subject has
    /// been deleted no longer exist.
    async fn fail(
        &self,
        worker: WorkerKind,
        subjects: &[Subject],
        failure: &JobFailure,
        now: Timestamp,
    ) -> Result<u64>;

    /// Returns the number of jobs that have failed permanently.
    async fn failed_count(&self) -> Result<u64>;

    /// Returns at most `limit` permanently failed jobs, latest first.
    async fn failed_jobs(&self, limit: u32) -> Result<Vec<Job>>;

    /// Makes one permanently failed job, or all of them, due again. Returns the number of jobs.
    async fn retry_jobs(&self, id: Option<i64>, now: Timestamp) -> Result<u64>;

    /// Discards one permanently failed job, or all of them, and returns their number. They are not attempted again
    /// until the conversation grows or the model changes.
    async fn purge_jobs(&self, id: Option<i64>) -> Result<u64>;

    /// Discards a worker's failed and discarded jobs so that they are attempted again, for example with another model.
    async fn forget_failures(&self, worker: WorkerKind) -> Result<()>;
}
