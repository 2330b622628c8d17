//! Tasks and their runs: who is due, who is at it, what came of it.

use async_trait::async_trait;
use memoir_core::{NewTask, Run, RunId, RunOutcome, Task, TaskId, Timestamp};

use crate::Result;

/// A run to begin.
#[derive(Debug, Clone, Copy)]
pub struct NewRun<'a> {
    /// The task.
    pub task: TaskId,
    /// The moment for which it was due, as the task said; nothing if someone wants it at once.
    pub scheduled_for: Option<Timestamp>,
    /// When it is due after that.
    pub next_due: Option<Timestamp>,
    /// Who does it.
    pub owner: &'a str,
    /// What time it is.
    pub now: Timestamp,
    /// From when on it is believed to be over, should nobody have said so.
    pub until: Timestamp,
}

/// A run that goes on, or so it is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningRun {
    /// The run.
    pub id: RunId,
    /// Who does it.
    pub owner: String,
    /// From when on it is believed to be over.
    pub until: Timestamp,
}

/// Keeping tasks and runs.
#[async_trait]
pub trait Schedules: Send + Sync {
    /// Keeps a task. Says whether its name was free.
    async fn add_task(&self, new: &NewTask, next_due: Option<Timestamp>, now: Timestamp) -> Result<bool>;

    /// All tasks, by name.
    async fn tasks(&self) -> Result<Vec<Task>>;

    /// A task by its name.
    async fn task(&self, name: &str) -> Result<Option<Task>>;

    /// Has a task wait, or go on at `next_due`.
    async fn set_task(&self, id: TaskId, paused: bool, next_due: Option<Timestamp>) -> Result<()>;

    /// Has a task be due at another moment, if it still is at `seen` and does not wait.
    async fn set_due(&self, id: TaskId, seen: Timestamp, due: Timestamp) -> Result<()>;

    /// Deletes a task with its runs.
    async fn remove_task(&self, id: TaskId) -> Result<bool>;

    /// The tasks that are due, the longest due first.
    async fn due_tasks(&self, now: Timestamp) -> Result<Vec<Task>>;

    /// When the next task is due that is not at it already.
    async fn next_task_due(&self) -> Result<Option<Timestamp>>;

    /// Begins a run, and notes when the task is due next, in one transaction. Nothing, if the task is at it already, waits, or is
    /// not due for that moment any more: someone else has begun it.
    async fn begin_run(&self, new: &NewRun<'_>) -> Result<Option<RunId>>;

    /// Someone is still at a run. Says whether it goes on.
    async fn renew_run(&self, id: RunId, until: Timestamp) -> Result<bool>;

    /// Notes what came of a run, if it still goes on. Says whether it did. The moment of one that was stopped is given back: someone
    /// else may take it up.
    async fn end_run(&self, id: RunId, outcome: &RunOutcome, now: Timestamp) -> Result<bool>;

    /// The runs that go on.
    async fn running_runs(&self) -> Result<Vec<RunningRun>>;

    /// The last runs, of one task or of all, the latest first.
    async fn runs(&self, task: Option<TaskId>, limit: u32) -> Result<Vec<Run>>;

    /// The runs that are over and that nobody has read about, oldest first.
    async fn unseen_runs(&self) -> Result<Vec<Run>>;

    /// How many of these there are, and the last of them.
    async fn unseen(&self) -> Result<(u64, Option<RunId>)>;

    /// Someone has read about these.
    async fn mark_seen(&self, runs: &[RunId]) -> Result<()>;
}
