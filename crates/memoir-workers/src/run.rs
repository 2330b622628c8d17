//! The list of workers, and a function that runs them until no job is due.

use memoir_core::WorkerKind;
use memoir_store::StoreError;

use crate::{
    BudgetStop, WorkerContext, WorkerProgress,
    conversation_summarizer::ConversationSummarizer,
    embedding_generator::EmbeddingGenerator,
    exchange_summarizer::ExchangeSummarizer,
    worker::{BackgroundWorker, CurrentWork},
};

pub(crate) fn all_workers() -> [&'static dyn BackgroundWorker; 3] {
    [&ExchangeSummarizer, &ConversationSummarizer, &EmbeddingGenerator]
}

/// The work that a worker did before it became idle or stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerReport {
    /// The worker that did the work.
    pub worker: WorkerKind,
    /// Number of jobs done.
    pub done: u64,
    /// Number of jobs that failed.
    pub failed: u64,
    /// The most recent error.
    pub last_error: Option<String>,
    /// Why it stopped although jobs were due.
    pub stopped: Option<WorkerStopReason>,
}

/// Why a worker stopped although jobs were due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerStopReason {
    /// The daily budget does not allow more work.
    OverBudget(BudgetStop),
    /// Several steps in a row failed.
    Failing,
}

/// Number of failures in a row after which a worker stops.
const MAX_FAILURES_IN_A_ROW: u32 = 5;

/// Runs `workers` one after the other until no job is due. Calls `observe` after each step and returns one report per
/// worker.
///
/// # Errors
///
/// Fails if the store cannot be read or written. A model error is recorded with its job instead.
pub async fn run_until_idle(
    context: &WorkerContext,
    workers: &[WorkerKind],
    observe: &mut (dyn FnMut(WorkerKind, &WorkerProgress) + Send),
) -> Result<Vec<WorkerReport>, StoreError> {
    context.release_dead_leases().await?;
    let mut reports = Vec::new();
    for worker in all_workers().into_iter().filter(|worker| workers.contains(&worker.kind())) {
        let mut builder = ReportBuilder::new(worker.kind());
        loop {
            let progress = worker.step(context, &CurrentWork::default()).await?;
            observe(worker.kind(), &progress);
            if !builder.add(progress) {
                break;
            }
        }
        reports.push(builder.report);
    }
    Ok(reports)
}

/// Adds up the steps of a worker.
pub(crate) struct ReportBuilder {
    pub(crate) report: WorkerReport,
    failures_in_a_row: u32,
}

impl ReportBuilder {
    pub(crate) fn new(worker: WorkerKind) -> Self {
        let report = WorkerReport { worker, done: 0, failed: 0, last_error: None, stopped: None };
        Self { report, failures_in_a_row: 0 }
    }

    /// Adds the result of a step. Returns whether the worker should take another step.
    pub(crate) fn add(&mut self, progress: WorkerProgress) -> bool {
        let report = &mut self.report;
        match progress {
            WorkerProgress::Worked { done, failed, error } => {
                report.done += done.len() as u64;
                report.failed += failed.len() as u64;
                // A step whose subjects were all deleted counts as a failure too, so that this loop always ends.
                let has_failed = done.is_empty();
                self.failures_in_a_row = if has_failed { self.failures_in_a_row + 1 } else { 0 };
                report.last_error = error.or(report.last_error.take());
                report.stopped =
                    (self.failures_in_a_row >= MAX_FAILURES_IN_A_ROW).then_some(WorkerStopReason::Failing);
                report.stopped.is_none()
            }
            WorkerProgress::Idle => false,
            WorkerProgress::OverBudget(stop) => {
                report.stopped = Some(WorkerStopReason::OverBudget(stop));
                false
            }
        }
    }
}
