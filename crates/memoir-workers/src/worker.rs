//! The trait that every worker has, and letting all of them work until nothing is due.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use memoir_core::WorkerKind;
use memoir_models::ModelError;
use memoir_store::{Claimed, JobFailure, StoreError};

use crate::{
    Office, backoff, conversation_summarizer::ConversationSummarizer,
    embedding_generator::EmbeddingGenerator, exchange_summarizer::ExchangeSummarizer,
};

/// Why a piece of work was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("what the model gave is no summary: {0}")]
    NoSummary(&'static str),
}

impl WorkError {
    /// Whether trying again may help. A wrong key or a wrong request stays wrong.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Store(_) | Self::NoSummary(_) => true,
            Self::Model(error) => {
                error.is_transient()
                    || matches!(
                        error,
                        ModelError::IdleTimeout { .. } | ModelError::Garbled(_) | ModelError::Empty
                    )
            }
        }
    }
}

/// What came of looking for work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A piece was done.
    Done,
    /// A piece failed, and why.
    Failed(String),
    /// Nothing is due.
    Idle,
    /// What may be spent today is spent.
    OverBudget,
}

/// What a worker is at.
#[derive(Debug, Default)]
pub(crate) struct Current(Mutex<Option<i64>>);

impl Current {
    pub(crate) fn set(&self, subject: i64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(subject);
    }

    pub(crate) fn get(&self) -> Option<i64> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One kind of work.
#[async_trait]
pub(crate) trait Worker: Send + Sync {
    fn kind(&self) -> WorkerKind;

    /// Whether it begins only when it is told that there may be work: looking for it takes memory that a program which
    /// was just started does not need.
    fn waits_for_a_signal(&self) -> bool {
        false
    }

    /// Does one piece, and notes in `current` what it is at.
    async fn step(&self, office: &Office, current: &Current) -> Result<Progress, StoreError>;
}

/// The next piece of a worker's, taken on; or why there is none.
pub(crate) async fn take_on(
    office: &Office,
    kind: WorkerKind,
    current: &Current,
) -> Result<Result<Claimed, Progress>, StoreError> {
    if over_budget(office).await? {
        return Ok(Err(Progress::OverBudget));
    }
    let Some(claimed) = office.store.claim(&office.claim(kind)).await? else {
        return Ok(Err(Progress::Idle));
    };
    current.set(claimed.subject_id);
    Ok(Ok(claimed))
}

/// Whether no more may be spent today. Quotations cost nothing.
async fn over_budget(office: &Office) -> Result<bool, StoreError> {
    match (office.daily_budget, &office.summarizer) {
        (Some(budget), Some(model)) if !model.is_free() => Ok(office.spent_today().await? >= budget),
        _ => Ok(false),
    }
}

/// Notes what came of a piece: it is done, its subject is gone, or it failed and is tried again, or never.
pub(crate) async fn finish(
    office: &Office,
    kind: WorkerKind,
    claimed: Claimed,
    came: Result<(), WorkError>,
) -> Result<Progress, StoreError> {
    let Err(error) = came else {
        // Filing it has ended the work; of a subject that is gone there may be a lease left.
        office.store.release(kind, claimed.subject_id).await?;
        return Ok(Progress::Done);
    };
    let now = office.clock.now();
    let due = if error.is_transient() { backoff::next(claimed.attempts, now) } else { None };
    let failure = JobFailure { error: error.to_string(), due };
    office.store.fail(kind, claimed.subject_id, &failure, now).await?;
    Ok(Progress::Failed(failure.error))
}

/// Every worker there is.
pub(crate) fn all() -> [&'static dyn Worker; 3] {
    [&ExchangeSummarizer, &ConversationSummarizer, &EmbeddingGenerator]
}

/// What a worker did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Which one.
    pub worker: WorkerKind,
    /// How much it did.
    pub done: u64,
    /// How much it failed at.
    pub failed: u64,
    /// Why it failed last.
    pub last_error: Option<String>,
    /// Whether it stopped because enough was spent today.
    pub over_budget: bool,
}

/// Lets every worker do what is due, one after the other, and tells what they did.
pub async fn run_until_idle(office: &Office) -> Result<Vec<Report>, StoreError> {
    let mut reports = Vec::new();
    for worker in all() {
        let mut report =
            Report { worker: worker.kind(), done: 0, failed: 0, last_error: None, over_budget: false };
        loop {
            match worker.step(office, &Current::default()).await? {
                Progress::Done => report.done += 1,
                Progress::Failed(error) => {
                    report.failed += 1;
                    report.last_error = Some(error);
                }
                Progress::Idle => break,
                Progress::OverBudget => {
                    report.over_budget = true;
                    break;
                }
            }
        }
        reports.push(report);
    }
    Ok(reports)
}
