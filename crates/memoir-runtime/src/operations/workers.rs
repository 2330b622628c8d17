//! Running the background workers in the foreground until no jobs are due.

use memoir_core::{Usd, WorkerKind};
use memoir_store::Job;
use memoir_workers::{
    BudgetStop, WorkerContext, WorkerReport, WorkerSettings, WorkerStopReason, run_until_idle,
};
use serde::Serialize;

use super::{Progress, ProgressUnit};
use crate::{failure::Failure, runtime::Runtime};

/// Result of running the workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkersReport {
    /// One entry per worker, in display order.
    pub workers: Vec<WorkerEntry>,
}

impl WorkersReport {
    /// Returns an error if a worker stopped because too many jobs failed, so that scripts notice.
    ///
    /// # Errors
    ///
    /// Fails if a worker stopped because of too many failures. The error names the first such worker.
    pub fn check(&self) -> Result<(), Failure> {
        match self.failing_worker() {
            Some(worker) => Err(Failure::failed(format!(
                "{} stopped after too many failures",
                worker.as_str()
            ))
            .hint(
                "Failed jobs are retried automatically, up to six times. After that, use `/worker retry`.",
            )),
            None => Ok(()),
        }
    }

    fn failing_worker(&self) -> Option<WorkerKind> {
        let is_failing = |entry: &&WorkerEntry| match &entry.outcome {
            WorkerOutcome::Ran(run) => run.stopped == Some(WorkerStop::Failing),
            WorkerOutcome::ModelUnavailable | WorkerOutcome::SwitchedOff => false,
        };
        self.workers.iter().find(is_failing).map(|entry| entry.worker)
    }
}

/// Result of one worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerEntry {
    /// Kind of the worker.
    pub worker: WorkerKind,
    /// Whether the worker ran, and with which result.
    pub outcome: WorkerOutcome,
}

/// Outcome of one worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerOutcome {
    /// The worker ran, even if it had no jobs or stopped early.
    Ran(WorkerRun),
    /// The worker did not run because its model is unavailable.
    ModelUnavailable,
    /// The worker did not run because it is switched off.
    SwitchedOff,
}

/// Result of a worker that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerRun {
    /// Number of jobs that succeeded.
    pub done: u64,
    /// Number of jobs that failed.
    pub failed: u64,
    /// Most recent error, if a job failed.
    pub last_error: Option<String>,
    /// Why the worker stopped although jobs were due, if it did.
    pub stopped: Option<WorkerStop>,
}

impl From<WorkerReport> for WorkerRun {
    fn from(report: WorkerReport) -> Self {
        let WorkerReport { done, failed, last_error, stopped, .. } = report;
        Self { done, failed, last_error, stopped: stopped.map(WorkerStop::from) }
    }
}

/// Reason why a worker stopped although jobs were due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerStop {
    /// The daily budget has been used up.
    BudgetSpent,
    /// A daily budget is set, but the price of the model is unknown.
    PriceUnknown,
    /// Too many jobs failed in a row.
    Failing,
}

impl From<WorkerStopReason> for WorkerStop {
    fn from(stopped: WorkerStopReason) -> Self {
        match stopped {
            WorkerStopReason::OverBudget(BudgetStop::Spent) => Self::BudgetSpent,
            WorkerStopReason::OverBudget(BudgetStop::NoPrice) => Self::PriceUnknown,
            WorkerStopReason::Failing => Self::Failing,
        }
    }
}

/// Number of failed jobs that are listed.
const MAX_FAILURES: u32 = 10;

/// The jobs that wait for a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerQueue {
    /// Kind of the worker.
    pub worker: WorkerKind,
    /// Whether the worker is enabled.
    pub is_on: bool,
    /// Number of jobs, due or not.
    pub pending: u64,
}

/// The jobs of all workers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueReport {
    /// One queue per worker, in display order.
    pub queues: Vec<WorkerQueue>,
    /// Cost of background work today.
    pub spent_today: Usd,
    /// Number of jobs that failed permanently.
    pub failed: u64,
    /// The latest of these.
    pub failures: Vec<Job>,
}

/// Returns the jobs that wait for the workers, whichever process runs them.
///
/// # Errors
///
/// Fails if the store cannot be read.
pub async fn list_queues(runtime: &Runtime) -> Result<QueueReport, Failure> {
    let mut notices = Vec::new();
    let (context, settings) =
        (runtime.worker_context(&mut notices).await?, runtime.worker_settings(&mut notices).await?);
    let mut queues = Vec::new();
    for worker in WorkerKind::ALL {
        let pending = context.store.pending(&context.claim(worker)).await?;
        queues.push(WorkerQueue { worker, is_on: settings.is_on(worker), pending });
    }
    Ok(QueueReport {
        queues,
        spent_today: context.spent_today().await?,
        failed: context.store.failed_count().await?,
        failures: context.store.failed_jobs(MAX_FAILURES).await?,
    })
}

/// Runs every enabled worker until no jobs are due.
///
/// # Errors
///
/// Fails if the store cannot be read or written. Failed jobs are part of the report.
pub async fn run(
    settings: &WorkerSettings,
    context: &WorkerContext,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<WorkersReport, Failure> {
    let can_embed = context.recall.embedder.is_available();
    let can_run =
        |kind: WorkerKind| settings.is_on(kind) && (kind != WorkerKind::EmbeddingGenerator || can_embed);
    let workers: Vec<WorkerKind> = WorkerKind::ALL.into_iter().filter(|kind| can_run(*kind)).collect();
    let mut pending = 0;
    for kind in &workers {
        pending += context.store.pending(&context.claim(*kind)).await?;
    }
    let mut jobs = 0;
    let mut count_jobs = |_: WorkerKind, step: &memoir_workers::WorkerProgress| {
        if let memoir_workers::WorkerProgress::Worked { done, .. } = step {
            jobs += done.len() as u64;
            // New summaries create further embedding jobs.
            progress(Progress { unit: ProgressUnit::Jobs, done: jobs, total: Some(pending.max(jobs + 1)) });
        }
    };
    let mut reports = run_until_idle(context, &workers, &mut count_jobs).await?;
    let mut to_entry = |worker: WorkerKind| {
        let position = reports.iter().position(|report| report.worker == worker);
        let outcome = match position {
            Some(position) => WorkerOutcome::Ran(reports.swap_remove(position).into()),
            None if settings.is_on(worker) => WorkerOutcome::ModelUnavailable,
            None => WorkerOutcome::SwitchedOff,
        };
        WorkerEntry { worker, outcome }
    };
    Ok(WorkersReport { workers: WorkerKind::ALL.map(&mut to_entry).to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_worker_that_stopped_because_of_failures_is_failing() {
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
        assert_eq!(report.failing_worker(), None);
        report.workers.push(ran(WorkerKind::EmbeddingGenerator, Some(WorkerStop::Failing)));
        assert_eq!(report.failing_worker(), Some(WorkerKind::EmbeddingGenerator));
    }
}
