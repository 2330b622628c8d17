//! The trait that every worker has, and letting all of them work until nothing is due.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use memoir_core::{Subject, SubjectKind, Timestamp, WorkerKind};
use memoir_models::ModelError;
use memoir_recall::RecallError;
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
    #[error("what it is about has changed meanwhile")]
    Changed,
    #[error("what may be spent today is spent")]
    OverBudget,
}

impl From<RecallError> for WorkError {
    fn from(error: RecallError) -> Self {
        match error {
            RecallError::Store(error) => Self::Store(error),
            RecallError::Embedding(error) => Self::Model(error),
            RecallError::Stage(reason) => Self::Model(ModelError::Garbled(reason)),
        }
    }
}

impl WorkError {
    /// Whether trying again may help. A wrong key or a wrong request stays wrong.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Store(_) | Self::NoSummary(_) | Self::Changed | Self::OverBudget => true,
            Self::Model(error) => {
                error.is_transient()
                    || matches!(
                        error,
                        ModelError::IdleTimeout { .. } | ModelError::Garbled(_) | ModelError::Empty
                    )
            }
        }
    }

    /// Whether it is about what was sent, and not about who sent it or where to.
    pub(crate) fn is_about_the_text(&self) -> bool {
        matches!(
            self,
            Self::Model(
                ModelError::BadRequest { .. } | ModelError::ContextTooLong { .. } | ModelError::ContentFilter
            )
        )
    }

    /// When to try again after failing so often before, if ever.
    fn due(&self, attempts: u32, now: Timestamp) -> Option<Timestamp> {
        let due = backoff::next(attempts, now).filter(|_| self.is_transient())?;
        let Self::Model(error) = self else { return Some(due) };
        // Who asks for more time gets it.
        let asked = error.retry_after().and_then(|wait| i64::try_from(wait.as_millis()).ok()).unwrap_or(0);
        Some(due.max(Timestamp::from_millis(now.as_millis() + asked)))
    }
}

/// What came of looking for work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// There was something to do.
    Worked {
        /// What was done.
        done: Vec<Subject>,
        /// What failed.
        failed: Vec<Subject>,
        /// Why.
        error: Option<String>,
    },
    /// Nothing is due.
    Idle,
    /// Nothing more may be spent.
    OverBudget(Broke),
}

impl Progress {
    fn done(done: Vec<Subject>) -> Self {
        Self::Worked { done, failed: Vec::new(), error: None }
    }
}

/// Why nothing more may be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broke {
    /// What may be spent today is spent.
    Spent,
    /// What the model costs is not known, so that nobody could tell.
    NoPrice,
}

/// What a worker is at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Current(Arc<Mutex<Vec<Subject>>>);

impl Current {
    pub(crate) fn set(&self, subjects: Vec<Subject>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = subjects;
    }

    pub(crate) fn get(&self) -> Vec<Subject> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One kind of work.
#[async_trait]
pub(crate) trait Worker: Send + Sync {
    fn kind(&self) -> WorkerKind;

    /// Does one piece, or a batch, and notes in `current` what it is at.
    async fn step(&self, office: &Office, current: &Current) -> Result<Progress, StoreError>;
}

/// Work that was taken on, or why there is none.
pub(crate) enum Taken {
    Work(Vec<Claimed>),
    Nothing(Progress),
}

/// The next pieces of a worker's, taken on; so many at most.
pub(crate) async fn take_on(
    office: &Office,
    kind: WorkerKind,
    (only, limit): (Option<SubjectKind>, u32),
    current: &Current,
) -> Result<Taken, StoreError> {
    if let Some(broke) = office.broke(kind).await? {
        return Ok(Taken::Nothing(Progress::OverBudget(broke)));
    }
    let claim = memoir_store::Claim { only, ..office.claim(kind) };
    let claimed = office.store.claim(&claim, limit).await?;
    if claimed.is_empty() {
        return Ok(Taken::Nothing(Progress::Idle));
    }
    current.set(subjects(&claimed));
    Ok(Taken::Work(claimed))
}

pub(crate) fn subjects(claimed: &[Claimed]) -> Vec<Subject> {
    claimed.iter().map(|claimed| claimed.subject).collect()
}

/// Notes what came of work: it is done, or it failed and is tried again, or never.
pub(crate) async fn finish(
    office: &Office,
    kind: WorkerKind,
    claimed: &[Claimed],
    came: Result<(), WorkError>,
) -> Result<Progress, StoreError> {
    // Filing it has ended the work.
    let Err(error) = came else { return Ok(Progress::done(subjects(claimed))) };
    if matches!(error, WorkError::OverBudget) {
        office.store.release(kind, &subjects(claimed)).await?;
        return Ok(Progress::OverBudget(Broke::Spent));
    }
    let now = office.clock.now();
    let mut failed = Vec::new();
    for work in claimed {
        let failure = JobFailure { error: error.to_string(), due: error.due(work.attempts, now) };
        // Of what was deleted meanwhile there is no work left to note this on, and nothing failed.
        if office.store.fail(kind, &[work.subject], &failure, now).await? > 0 {
            failed.push(work.subject);
        }
    }
    let error = (!failed.is_empty()).then(|| error.to_string());
    Ok(Progress::Worked { done: Vec::new(), failed, error })
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
    /// Why it stopped, if it was not for want of work.
    pub stopped: Option<Stopped>,
}

/// Why a worker stopped although there was work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Nothing more may be spent.
    OverBudget(Broke),
    /// Nothing succeeded any more.
    Failing,
}

/// After so many failures in a row the rest is left for another time.
const PATIENCE: u32 = 5;

/// Lets some workers do what is due, one after the other, and tells what they did: at once, and in the end.
pub async fn run_until_idle(
    office: &Office,
    workers: &[WorkerKind],
    told: &mut (dyn FnMut(WorkerKind, &Progress) + Send),
) -> Result<Vec<Report>, StoreError> {
    office.take_back_from_the_dead().await?;
    let mut reports = Vec::new();
    for worker in all().into_iter().filter(|worker| workers.contains(&worker.kind())) {
        let mut tally = Tally::new(worker.kind());
        loop {
            let progress = worker.step(office, &Current::default()).await?;
            told(worker.kind(), &progress);
            if !tally.add(progress) {
                break;
            }
        }
        reports.push(tally.report);
    }
    Ok(reports)
}

/// What a worker has done so far.
pub(crate) struct Tally {
    pub(crate) report: Report,
    failures_in_a_row: u32,
}

impl Tally {
    pub(crate) fn new(worker: WorkerKind) -> Self {
        let report = Report { worker, done: 0, failed: 0, last_error: None, stopped: None };
        Self { report, failures_in_a_row: 0 }
    }

    /// Adds what came of a step; says whether there is any use in another.
    pub(crate) fn add(&mut self, progress: Progress) -> bool {
        let report = &mut self.report;
        match progress {
            Progress::Worked { done, failed, error } => {
                report.done += done.len() as u64;
                report.failed += failed.len() as u64;
                // Of what was deleted meanwhile nothing comes; if that goes on, something is wrong.
                let fails = done.is_empty();
                self.failures_in_a_row = if fails { self.failures_in_a_row + 1 } else { 0 };
                report.last_error = error.or(report.last_error.take());
                report.stopped = (self.failures_in_a_row >= PATIENCE).then_some(Stopped::Failing);
                report.stopped.is_none()
            }
            Progress::Idle => false,
            Progress::OverBudget(broke) => {
                report.stopped = Some(Stopped::OverBudget(broke));
                false
            }
        }
    }
}
