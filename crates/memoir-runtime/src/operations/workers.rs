//! Running the background workers in the foreground until nothing is due.

use memoir_core::WorkerKind;
use memoir_workers::{BudgetStop, Stopped, WorkerContext, WorkerReport, WorkerSettings, run_until_idle};
use serde::Serialize;

use super::{Progress, ProgressUnit};
use crate::failure::Failure;

/// What each worker did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkersReport {
    /// Every worker, in the order in which they are shown.
    pub workers: Vec<WorkerEntry>,
}

impl WorkersReport {
    /// Fails if a worker stopped because nothing succeeded, so that a script notices.
    ///
    /// # Errors
    ///
    /// Names the worker.
    pub fn check(&self) -> Result<(), Failure> {
        match self.failing() {
            Some(worker) => Err(Failure::failed(format!("{} does not succeed", worker.as_str()))
                .hint("What failed is tried again by itself, up to seven times; then /worker retry does.")),
            None => Ok(()),
        }
    }

    /// Returns the first worker that stopped because nothing succeeded.
    fn failing(&self) -> Option<WorkerKind> {
        let is_failing = |entry: &&WorkerEntry| match &entry.outcome {
            WorkerOutcome::Ran(run) => run.stopped == Some(WorkerStop::Failing),
            WorkerOutcome::ModelUnavailable | WorkerOutcome::SwitchedOff => false,
        };
        self.workers.iter().find(is_failing).map(|entry| entry.worker)
    }
}

/// What one worker did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerEntry {
    /// The worker.
    pub worker: WorkerKind,
    /// Whether it ran, and what it did.
    pub outcome: WorkerOutcome,
}

/// Whether a worker ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerOutcome {
    /// It ran.
    Ran(WorkerRun),
    /// It did not run because its model cannot be called.
    ModelUnavailable,
    /// It did not run because it is switched off.
    SwitchedOff,
}

/// What a worker that ran did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerRun {
    /// Number of jobs done.
    pub done: u64,
    /// Number of jobs failed.
    pub failed: u64,
    /// The last error.
    pub last_error: Option<String>,
    /// Why it stopped although there was work.
    pub stopped: Option<WorkerStop>,
}

impl From<WorkerReport> for WorkerRun {
    fn from(report: WorkerReport) -> Self {
        let WorkerReport { done, failed, last_error, stopped, .. } = report;
        Self { done, failed, last_error, stopped: stopped.map(WorkerStop::from) }
    }
}

/// Why a worker stopped although there was work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerStop {
    /// The daily budget is used up.
    BudgetSpent,
    /// A daily budget is set, and the price of the model is unknown.
    PriceUnknown,
    /// Too many jobs failed in a row.
    Failing,
}

impl From<Stopped> for WorkerStop {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::OverBudget(BudgetStop::Spent) => Self::BudgetSpent,
            Stopped::OverBudget(BudgetStop::NoPrice) => Self::PriceUnknown,
            Stopped::Failing => Self::Failing,
        }
    }
}

/// Runs every worker that is switched on until nothing is due.
///
/// # Errors
///
/// Fails if the memory cannot be read or written. A job that fails is in the report.
pub async fn run(
    settings: &WorkerSettings,
    context: &WorkerContext,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<WorkersReport, Failure> {
    let can_embed = context.recall.embedder.is_available();
    let is_able =
        |kind: WorkerKind| settings.is_on(kind) && (kind != WorkerKind::EmbeddingGenerator || can_embed);
    let able: Vec<WorkerKind> = WorkerKind::ALL.into_iter().filter(|kind| is_able(*kind)).collect();
    let mut jobs = 0;
    let mut listen = |_: WorkerKind, step: &memoir_workers::WorkerProgress| {
        if let memoir_workers::WorkerProgress::Worked { done, .. } = step {
            jobs += done.len() as u64;
            // Summaries are embedded in turn, so the total is not known beforehand.
            progress(Progress { unit: ProgressUnit::Jobs, done: jobs, total: None });
        }
    };
    let mut reports = run_until_idle(context, &able, &mut listen).await?;
    let mut entry = |worker: WorkerKind| {
        let position = reports.iter().position(|report| report.worker == worker);
        let outcome = match position {
            Some(position) => WorkerOutcome::Ran(reports.swap_remove(position).into()),
            None if settings.is_on(worker) => WorkerOutcome::ModelUnavailable,
            None => WorkerOutcome::SwitchedOff,
        };
        WorkerEntry { worker, outcome }
    };
    Ok(WorkersReport { workers: WorkerKind::ALL.map(&mut entry).to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_worker_that_stopped_over_failures_is_failing() {
        let ran = |worker, stopped| WorkerEntry {
            worker,
            outcome: WorkerOutcome::Ran(WorkerRun { done: 0, failed: 5, last_error: None, stopped }),
        };
        let mut report = WorkersReport {
            workers: vec![
                ran(WorkerKind::ExchangeSummarizer, Some(WorkerStop::BudgetSpent)),
                WorkerEntry {
                    worker: WorkerKind::ConversationSummarizer,
                    outcome: WorkerOutcome::SwitchedOff,
                },
            ],
        };
        assert_eq!(report.failing(), None);
        report.workers.push(ran(WorkerKind::EmbeddingGenerator, Some(WorkerStop::Failing)));
        assert_eq!(report.failing(), Some(WorkerKind::EmbeddingGenerator));
    }
}
