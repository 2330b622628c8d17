//! The state of each worker, as shown to the user.

use std::time::Duration;

use memoir_core::{Subject, WorkerKind};
use serde::Serialize;
use tokio::time::Instant;

use crate::{BudgetStop, worker::CurrentWork};

/// What a worker is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    /// It is processing jobs.
    Working,
    /// No job is due.
    Idle,
    /// It is paused, as during every turn.
    Paused,
    /// The daily budget does not allow more work.
    #[serde(rename = "overspent")]
    OverBudget(BudgetStop),
    /// It failed and will retry after this time.
    #[serde(rename = "troubled")]
    Failing(Duration),
    /// It is not running.
    Stopped,
}

/// The status of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerStatus {
    /// The worker described by this status.
    pub worker: WorkerKind,
    /// The activity of the worker.
    pub state: WorkerState,
    /// The jobs it is processing.
    pub current: Vec<Subject>,
    /// Number of jobs completed since the worker was first started.
    pub completed: u64,
    /// Number of jobs that failed since the worker was first started.
    pub failed: u64,
    /// The most recent error.
    pub last_error: Option<String>,
}

/// What the runner knows about a worker. [`WorkerRecord::status`] derives the status from it.
#[derive(Debug, Clone)]
pub(crate) struct WorkerRecord {
    pub(crate) state: WorkerState,
    /// End of the rest after a failure.
    pub(crate) rests_until: Option<Instant>,
    pub(crate) current: CurrentWork,
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    pub(crate) last_error: Option<String>,
}

impl WorkerRecord {
    pub(crate) fn new() -> Self {
        Self {
            state: WorkerState::Stopped,
            rests_until: None,
            current: CurrentWork::default(),
            completed: 0,
            failed: 0,
            last_error: None,
        }
    }

    pub(crate) fn status(&self, worker: WorkerKind) -> WorkerStatus {
        let current = self.current.get();
        let rest = self.rests_until.map(|until| until.saturating_duration_since(Instant::now()));
        let state = match (self.state, rest) {
            (WorkerState::Idle, _) if !current.is_empty() => WorkerState::Working,
            (WorkerState::Idle, Some(rest)) if !rest.is_zero() => WorkerState::Failing(rest),
            (state, _) => state,
        };
        WorkerStatus {
            worker,
            state,
            current,
            completed: self.completed,
            failed: self.failed,
            last_error: self.last_error.clone(),
        }
    }
}
