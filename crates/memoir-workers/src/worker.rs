//! The worker trait, and functions that claim jobs and record their outcome.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use memoir_core::{Subject, SubjectKind, Timestamp, WorkerKind, lock};
use memoir_models::ModelError;
use memoir_recall::RecallError;
use memoir_store::{ClaimedJob, JobFailure, StoreError};

use crate::{BudgetStop, WorkerContext, backoff};

/// Why a job failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("the model did not return a summary: {0}")]
    NoSummary(&'static str),
    #[error("the text to summarize has changed")]
    Changed,
    #[error("the daily budget has been used up")]
    OverBudget,
}

impl From<RecallError> for WorkError {
    fn from(error: RecallError) -> Self {
        match error {
            RecallError::Store(error) => Self::Store(error),
            RecallError::Model(error) => Self::Model(error),
            RecallError::Stage(reason) => Self::Model(ModelError::InvalidResponse(reason)),
        }
    }
}

impl WorkError {
    /// Returns whether a retry may help. It does not for an invalid key or request.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Store(_) | Self::NoSummary(_) | Self::Changed | Self::OverBudget => true,
            Self::Model(error) => {
                error.is_transient()
                    || matches!(
                        error,
                        ModelError::IdleTimeout { .. } | ModelError::InvalidResponse(_) | ModelError::Empty
                    )
            }
        }
    }

    /// Returns whether the server rejected the text itself, as opposed to an error of the server or the account.
    pub(crate) fn is_caused_by_text(&self) -> bool {
        matches!(
            self,
            Self::Model(
                ModelError::BadRequest { .. } | ModelError::ContextTooLong { .. } | ModelError::ContentFilter
            )
        )
    }

    /// Returns when to retry after `attempts` earlier failures, or `None` to give up.
    fn next_attempt(&self, attempts: u32, now: Timestamp) -> Option<Timestamp> {
        let due = backoff::next_attempt(attempts, now).filter(|_| self.is_transient())?;
        let Self::Model(error) = self else { return Some(due) };
        // The server may ask for a longer delay than the backoff.
        let retry_after =
            error.retry_after().and_then(|wait| i64::try_from(wait.as_millis()).ok()).unwrap_or(0);
        Some(due.max(Timestamp::from_millis(now.as_millis() + retry_after)))
    }
}

/// The result of one step of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerProgress {
    /// One or more jobs were claimed.
    Worked {
        /// The jobs that succeeded.
        done: Vec<Subject>,
        /// The jobs that failed.
        failed: Vec<Subject>,
        /// The most recent error.
        error: Option<String>,
    },
    /// No job is due.
    Idle,
    /// The budget stops the worker.
    OverBudget(BudgetStop),
}

impl WorkerProgress {
    fn done(done: Vec<Subject>) -> Self {
        Self::Worked { done, failed: Vec::new(), error: None }
    }
}

/// The jobs that a worker is processing.
#[derive(Debug, Clone, Default)]
pub(crate) struct CurrentWork(Arc<Mutex<Vec<Subject>>>);

impl CurrentWork {
    pub(crate) fn set(&self, subjects: Vec<Subject>) {
        *lock(&self.0) = subjects;
    }

    pub(crate) fn get(&self) -> Vec<Subject> {
        lock(&self.0).clone()
    }
}

/// A worker that processes one kind of job.
#[async_trait]
pub(crate) trait BackgroundWorker: Send + Sync {
    fn kind(&self) -> WorkerKind;

    /// Processes one job or batch. Its subjects are recorded in `current`.
    async fn step(
        &self,
        context: &WorkerContext,
        current: &CurrentWork,
    ) -> Result<WorkerProgress, StoreError>;
}

/// Claimed jobs, or the reason why there are none.
pub(crate) enum ClaimOutcome {
    Work(Vec<ClaimedJob>),
    Nothing(WorkerProgress),
}

/// Claims up to `limit` jobs of a worker, restricted to one kind of subject if `subject_kind` is set.
pub(crate) async fn claim_work(
    context: &WorkerContext,
    kind: WorkerKind,
    (subject_kind, limit): (Option<SubjectKind>, u32),
    current: &CurrentWork,
) -> Result<ClaimOutcome, StoreError> {
    if let Some(stop) = context.check_budget(kind).await? {
        return Ok(ClaimOutcome::Nothing(WorkerProgress::OverBudget(stop)));
    }
    let claim = memoir_store::Claim { subject_kind, ..context.claim(kind) };
    let claimed = context.jobs().claim(&claim, limit).await?;
    if claimed.is_empty() {
        return Ok(ClaimOutcome::Nothing(WorkerProgress::Idle));
    }
    current.set(subjects(&claimed));
    Ok(ClaimOutcome::Work(claimed))
}

pub(crate) fn subjects(claimed: &[ClaimedJob]) -> Vec<Subject> {
    claimed.iter().map(|job| job.subject).collect()
}

/// Records the outcome of claimed jobs: done, to be retried, or failed permanently.
pub(crate) async fn finish(
    context: &WorkerContext,
    kind: WorkerKind,
    claimed: &[ClaimedJob],
    outcome: Result<(), WorkError>,
) -> Result<WorkerProgress, StoreError> {
    // Storing the result has already completed the jobs.
    let Err(error) = outcome else { return Ok(WorkerProgress::done(subjects(claimed))) };
    if matches!(error, WorkError::OverBudget) {
        context.jobs().release(kind, &subjects(claimed)).await?;
        return Ok(WorkerProgress::OverBudget(BudgetStop::Spent));
    }
    let now = context.clock.now();
    let mut failed = Vec::new();
    for job in claimed {
        let failure = JobFailure { error: error.to_string(), due: error.next_attempt(job.attempts, now) };
        // The error may quote the server's response, so it is only logged at `trace`. It is stored with the job.
        tracing::debug!(worker = ?kind, subject = ?job.subject, attempts = job.attempts, due = ?failure.due, "a job failed");
        tracing::trace!(error = %failure.error, "the error of the failed job");
        // If the subject has been deleted, so has its job, and nothing failed.
        if context.jobs().fail(kind, &[job.subject], &failure, now).await? > 0 {
            failed.push(job.subject);
        }
    }
    let error = (!failed.is_empty()).then(|| error.to_string());
    Ok(WorkerProgress::Worked { done: Vec::new(), failed, error })
}
