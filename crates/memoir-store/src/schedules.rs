//! Scheduled tasks and their runs.

use async_trait::async_trait;
use memoir_core::{NewTask, Run, RunId, RunOutcome, Task, TaskId, Timestamp};

use crate::Result;

/// A run to start.
#[derive(Debug, Clone, Copy)]
pub struct NewRun<'a> {
    /// Task whose run starts.
    pub task: TaskId,
    /// Scheduled time of the run, or `None` for a run that the user started.
    pub scheduled_for: Option<Timestamp>,
    /// When the task is due again after a scheduled run.
    pub next_due: Option<Timestamp>,
    /// Process that executes the run.
    pub owner: &'a str,
    /// The current time, which becomes the start of the run.
    pub now: Timestamp,
    /// When the run's lease expires.
    pub until: Timestamp,
}

/// A run whose end has not been recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningRun {
    /// Id of the run.
    pub id: RunId,
    /// Process that executes the run.
    pub owner: String,
    /// When the run's lease expires. The run is then assumed to be dead.
    pub until: Timestamp,
}

/// Stores tasks and their runs.
#[async_trait]
pub trait Schedules: Send + Sync {
    /// Adds a task. Returns `false` if its name is taken.
    async fn add_task(&self, new: &NewTask, next_due: Option<Timestamp>, now: Timestamp) -> Result<bool>;

    /// Returns all tasks, sorted by name.
    async fn tasks(&self) -> Result<Vec<Task>>;

    /// Returns the task with this name.
    async fn task(&self, name: &str) -> Result<Option<Task>>;

    /// Pauses or resumes a task and sets when it is next due.
    async fn set_task_paused(&self, id: TaskId, paused: bool, next_due: Option<Timestamp>) -> Result<()>;

    /// Reschedules a task to `due`, if it is still due at `current_due` and not paused.
    async fn set_due(&self, id: TaskId, current_due: Timestamp, due: Timestamp) -> Result<()>;

    /// Deletes a task with its runs. Returns whether it existed.
    async fn remove_task(&self, id: TaskId) -> Result<bool>;

    /// Returns the tasks that are due and not running, longest overdue first.
    async fn due_tasks(&self, now: Timestamp) -> Result<Vec<Task>>;

    /// Returns when the next task is due, ignoring paused and running tasks.
    async fn next_task_due(&self) -> Result<Option<Timestamp>>;

    /// Starts a run and sets when its task is due next, in one transaction. Returns `None` if the task is already
    /// running. A scheduled run also requires that the task is not paused and is still due at `new.scheduled_for`.
    async fn start_run(&self, new: &NewRun<'_>) -> Result<Option<RunId>>;

    /// Extends the lease of a run. Returns `false` if the run has ended.
    async fn renew_run(&self, id: RunId, until: Timestamp) -> Result<bool>;

    /// Records the outcome of a run. Returns `false` if the run had already ended. If a scheduled run was stopped, its
    /// task becomes due again, so that another process can run it.
    async fn end_run(&self, id: RunId, outcome: &RunOutcome, now: Timestamp) -> Result<bool>;

    /// Returns the runs whose end has not been recorded.
    async fn running_runs(&self) -> Result<Vec<RunningRun>>;

    /// Returns at most `limit` runs of one task or of all tasks, latest first.
    async fn runs(&self, task: Option<TaskId>, limit: u32) -> Result<Vec<Run>>;

    /// Returns the finished runs that the user has not seen, oldest first.
    async fn unread_runs(&self) -> Result<Vec<Run>>;

    /// Returns the number of unseen runs and the id of the last one.
    async fn count_unread_runs(&self) -> Result<(u64, Option<RunId>)>;

    /// Marks these runs as seen.
    async fn mark_read(&self, runs: &[RunId]) -> Result<()>;
}
