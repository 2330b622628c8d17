//! Managing scheduled tasks: adding, listing, pausing, running and removing them, and reading their reports.

mod add;

use std::sync::Arc;

use memoir_core::{Run, RunId, RunOutcome, RunState, Task, Timestamp};
use memoir_schedule::{CronError, check_schedule, next_due};
use memoir_store::Schedules;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{failure::Failure, tasks::TaskEngine};

pub use add::{AddTask, add};

/// Maximum number of runs returned for [`InboxFilter::Latest`].
const INBOX_LIMIT: u32 = 10;

/// All tasks, serialized as an array.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct TaskList {
    /// Tasks in the order of the store.
    pub tasks: Vec<Task>,
}

/// Returns all scheduled tasks.
pub async fn list(store: &dyn Schedules) -> Result<TaskList, Failure> {
    Ok(TaskList { tasks: store.tasks().await? })
}

/// A task with the due time after the next one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskDetails {
    /// Task, which includes the next due time.
    #[serde(flatten)]
    pub task: Task,
    /// Due time after the next one, if there is one.
    pub following_due: Option<Timestamp>,
}

/// Returns one task with its due times.
pub async fn show(name: &str, store: &dyn Schedules) -> Result<TaskDetails, Failure> {
    let task = find(name, store).await?;
    let following_due = task.next_due.and_then(|due| next_due(&task.definition.schedule, due).ok().flatten());
    Ok(TaskDetails { task, following_due })
}

/// State of a task after it was added, paused or resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskState {
    /// Name of the task.
    pub name: String,
    /// Whether the task is paused.
    pub is_paused: bool,
    /// Time at which the task is due next.
    pub next_due: Option<Timestamp>,
}

/// Pauses a task until it is resumed.
pub async fn pause(name: &str, store: &dyn Schedules) -> Result<TaskState, Failure> {
    let task = find(name, store).await?;
    store.set_task_paused(task.id, true, task.next_due).await?;
    Ok(TaskState { name: task.definition.name, is_paused: true, next_due: task.next_due })
}

/// Resumes a paused task.
///
/// # Errors
///
/// Fails if the task does not exist, or if its schedule is invalid.
pub async fn resume(name: &str, store: &dyn Schedules, now: Timestamp) -> Result<TaskState, Failure> {
    let task = find(name, store).await?;
    let due = match check_schedule(&task.definition.schedule, now) {
        // The one-time task became due while it was paused, so it runs now. The store does not run it a second time.
        Err(CronError::Past) => now,
        due => due.map_err(schedule_failure)?,
    };
    store.set_task_paused(task.id, false, Some(due)).await?;
    Ok(TaskState { name: task.definition.name, is_paused: false, next_due: Some(due) })
}

/// Result of removing a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RemovedTask {
    /// Name of the task.
    pub name: String,
}

/// Removes a task with its runs and history.
///
/// # Errors
///
/// Fails if the task does not exist, or if it is running.
pub async fn remove(name: &str, engine: &TaskEngine) -> Result<RemovedTask, Failure> {
    let store: &dyn Schedules = engine.store.as_ref();
    let task = find(name, store).await?;
    engine.scheduler().recover().await?;
    let latest_runs = store.runs(Some(task.id), 1).await?;
    if latest_runs.first().is_some_and(|run| run.outcome.state == RunState::Running) {
        return Err(Failure::failed(format!("{name} is running"))
            .hint("Wait for its report, or stop the process that runs it."));
    }
    store.remove_task(task.id).await?;
    engine.history().delete(name)?;
    Ok(RemovedTask { name: task.definition.name })
}

/// Request to show the runs of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRuns {
    /// Name of the task.
    pub name: String,
    /// Maximum number of runs.
    pub limit: u32,
}

/// Runs with their reports, serialized as an array.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct RunList {
    /// Runs in the order described by the operation.
    pub runs: Vec<Run>,
}

/// Returns the latest runs of a task, newest first.
pub async fn history(request: &TaskRuns, store: &dyn Schedules) -> Result<RunList, Failure> {
    let task = find(&request.name, store).await?;
    Ok(RunList { runs: store.runs(Some(task.id), request.limit).await? })
}

/// Selects the reports to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InboxFilter {
    /// Reports that have not been read yet.
    #[default]
    Unread,
    /// Latest reports, whether or not they have been read.
    Latest,
}

/// Returns reports of tasks, oldest first, and marks them as read.
pub async fn read_inbox(filter: InboxFilter, store: &dyn Schedules) -> Result<RunList, Failure> {
    let runs = match filter {
        InboxFilter::Unread => store.unread_runs().await?,
        InboxFilter::Latest => {
            let mut runs = store.runs(None, INBOX_LIMIT).await?;
            runs.reverse();
            runs
        }
    };
    let ended_runs: Vec<RunId> =
        runs.iter().filter(|run| run.outcome.state != RunState::Running).map(|run| run.id).collect();
    if !runs.is_empty() {
        store.mark_read(&ended_runs).await?;
    }
    Ok(RunList { runs })
}

/// Result of a run that was started manually.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// Name of the task.
    pub task: String,
    /// Id of the run.
    pub run: RunId,
    /// Outcome of the run.
    #[serde(flatten)]
    pub outcome: RunOutcome,
}

/// Runs a task now, waits for its report and marks it as read. A cancelled run ends with the state
/// [`RunState::Stopped`]. Dropping the future cancels the run.
///
/// # Errors
///
/// Fails if the task does not exist, or if it is already running. A failed run is part of the report.
pub async fn run(
    name: &str,
    engine: &Arc<TaskEngine>,
    cancel: &CancellationToken,
) -> Result<RunReport, Failure> {
    let store: &dyn Schedules = engine.store.as_ref();
    let task = find(name, store).await?;
    let scheduler = engine.scheduler();
    scheduler.recover().await?;
    let Some(task_run) = scheduler.start_now(&task).await? else {
        return Err(Failure::failed(format!("{} is already running", task.definition.name))
            .hint("Its report will appear in the inbox."));
    };
    // Spawn the run so that its outcome is recorded even if the caller stops waiting.
    let stop = cancel.child_token();
    let _stop_on_drop = stop.clone().drop_guard();
    let handle = {
        let (task_run, engine) = (task_run.clone(), Arc::clone(engine));
        tokio::spawn(async move { scheduler.execute(&task_run, engine.as_ref(), &stop).await })
    };
    let outcome = handle.await.map_err(|error| Failure::failed(error.to_string()))??;
    if let Err(error) = store.mark_read(&[task_run.run]).await {
        tracing::debug!(%error, "could not mark a report as read, so it stays in the inbox");
    }
    Ok(RunReport { task: task.definition.name, run: task_run.run, outcome })
}

async fn find(name: &str, store: &dyn Schedules) -> Result<Task, Failure> {
    store.task(name).await?.ok_or_else(|| {
        Failure::usage(format!("there is no task \"{name}\""))
            .hint("Run `memoir schedule list` to see all tasks.")
    })
}

fn schedule_failure(error: CronError) -> Failure {
    let hint = match &error {
        CronError::Line { .. } => {
            "Use five fields (minute, hour, day, month, weekday), or six with seconds first. `0 9 * * MON-FRI` is 9:00 on weekdays."
        }
        CronError::Zone(_) => "Use a name such as Europe/Berlin or UTC.",
        CronError::Never(_) => "Check the day and the month: no such date exists.",
        CronError::Past => "Choose a time in the future.",
    };
    Failure::usage(error.to_string()).hint(hint)
}
