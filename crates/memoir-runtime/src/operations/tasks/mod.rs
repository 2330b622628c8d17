//! Scheduled tasks: adding, listing, pausing, running and removing them, and reading their reports.

mod add;

use std::sync::Arc;

use memoir_core::{Run, RunId, RunOutcome, RunState, Task, Timestamp};
use memoir_schedule::{CronError, check, next_due};
use memoir_store::Schedules;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{failure::Failure, tasks::TaskEngine};

pub use add::{AddTask, add};

/// Maximum number of runs in the inbox when all are asked for.
const INBOX_LIMIT: u32 = 10;

/// Every task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct TaskList {
    /// The tasks, in the order of the store.
    pub tasks: Vec<Task>,
}

/// Lists every task.
///
/// # Errors
///
/// Fails if the memory cannot be read.
pub async fn list(store: &dyn Schedules) -> Result<TaskList, Failure> {
    Ok(TaskList { tasks: store.tasks().await? })
}

/// A task and when it is due.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskDetails {
    /// The task.
    #[serde(flatten)]
    pub task: Task,
    /// When it is due after the next time, if it is.
    pub following_due: Option<Timestamp>,
}

/// Shows one task.
///
/// # Errors
///
/// Fails if there is no such task.
pub async fn show(name: &str, store: &dyn Schedules) -> Result<TaskDetails, Failure> {
    let task = find(name, store).await?;
    let following_due = task.next_due.and_then(|due| next_due(&task.what.schedule, due).ok().flatten());
    Ok(TaskDetails { task, following_due })
}

/// When a task is due after it was added, paused or resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskState {
    /// Name of the task.
    pub name: String,
    /// Whether it is paused.
    pub is_paused: bool,
    /// When it is due next.
    pub next_due: Option<Timestamp>,
}

/// Pauses a task.
///
/// # Errors
///
/// Fails if there is no such task.
pub async fn pause(name: &str, store: &dyn Schedules) -> Result<TaskState, Failure> {
    let task = find(name, store).await?;
    store.set_task(task.id, true, task.next_due).await?;
    Ok(TaskState { name: task.what.name, is_paused: true, next_due: task.next_due })
}

/// Resumes a task that was paused.
///
/// # Errors
///
/// Fails if there is no such task, or if its schedule has no further time.
pub async fn resume(name: &str, store: &dyn Schedules, now: Timestamp) -> Result<TaskState, Failure> {
    let task = find(name, store).await?;
    let due = match check(&task.what.schedule, now) {
        // Its only time passed while it was paused, so it runs now. The store does not run it a second time.
        Err(CronError::Over) => now,
        due => due.map_err(refuse_schedule)?,
    };
    store.set_task(task.id, false, Some(due)).await?;
    Ok(TaskState { name: task.what.name, is_paused: false, next_due: Some(due) })
}

/// A task that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RemovedTask {
    /// Name of the task.
    pub name: String,
}

/// Removes a task with its runs and its history.
///
/// # Errors
///
/// Fails if there is no such task, or if it is running.
pub async fn remove(name: &str, engine: &TaskEngine) -> Result<RemovedTask, Failure> {
    let store: &dyn Schedules = engine.store.as_ref();
    let task = find(name, store).await?;
    engine.scheduler().recover().await?;
    let last = store.runs(Some(task.id), 1).await?;
    if last.first().is_some_and(|run| run.outcome.state == RunState::Running) {
        return Err(Failure::failed(format!("{name} is running"))
            .hint("Wait for its report, or stop whoever runs it."));
    }
    store.remove_task(task.id).await?;
    engine.history().forget(name)?;
    Ok(RemovedTask { name: task.what.name })
}

/// The runs of a task to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRuns {
    /// Name of the task.
    pub name: String,
    /// Maximum number of runs.
    pub limit: u32,
}

/// Runs with their reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct RunList {
    /// The runs.
    pub runs: Vec<Run>,
}

/// Returns the last runs of a task, newest first.
///
/// # Errors
///
/// Fails if there is no such task.
pub async fn history(request: &TaskRuns, store: &dyn Schedules) -> Result<RunList, Failure> {
    let task = find(&request.name, store).await?;
    Ok(RunList { runs: store.runs(Some(task.id), request.limit).await? })
}

/// Which reports to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InboxFilter {
    /// Reports that were not read yet.
    #[default]
    Unread,
    /// The latest reports, read or not.
    Latest,
}

/// Returns reports of tasks, oldest first, and marks them as read.
///
/// # Errors
///
/// Fails if the memory cannot be read or written.
pub async fn read_inbox(filter: InboxFilter, store: &dyn Schedules) -> Result<RunList, Failure> {
    let runs = match filter {
        InboxFilter::Unread => store.unseen_runs().await?,
        InboxFilter::Latest => {
            let mut runs = store.runs(None, INBOX_LIMIT).await?;
            runs.reverse();
            runs
        }
    };
    let ended: Vec<RunId> =
        runs.iter().filter(|run| run.outcome.state != RunState::Running).map(|run| run.id).collect();
    if !runs.is_empty() {
        store.mark_seen(&ended).await?;
    }
    Ok(RunList { runs })
}

/// A run that was started by hand, and how it ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// Name of the task.
    pub task: String,
    /// The run.
    pub run: RunId,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: RunOutcome,
}

/// Runs a task now and waits for its report, which counts as read. A cancelled run ends with the state
/// [`RunState::Stopped`]; dropping the future cancels it.
///
/// # Errors
///
/// Fails if there is no such task, or if it is running already. A run that fails is in the report.
pub async fn run(
    name: &str,
    engine: &Arc<TaskEngine>,
    cancel: &CancellationToken,
) -> Result<RunReport, Failure> {
    let store: &dyn Schedules = engine.store.as_ref();
    let task = find(name, store).await?;
    let scheduler = engine.scheduler();
    scheduler.recover().await?;
    let Some(begun) = scheduler.begin_now(&task).await? else {
        return Err(Failure::failed(format!("{} is running already", task.what.name))
            .hint("Its report will be in the inbox."));
    };
    // The run is a task of its own, so that its end is recorded even if the caller stops waiting.
    let stop = cancel.child_token();
    let _stop_on_drop = stop.clone().drop_guard();
    let working = {
        let (begun, engine) = (begun.clone(), Arc::clone(engine));
        tokio::spawn(async move { scheduler.perform(&begun, engine.as_ref(), &stop).await })
    };
    let outcome = working.await.map_err(|error| Failure::failed(error.to_string()))??;
    if let Err(error) = store.mark_seen(&[begun.run]).await {
        tracing::debug!(%error, "the report is in the inbox although it was shown");
    }
    Ok(RunReport { task: task.what.name, run: begun.run, outcome })
}

async fn find(name: &str, store: &dyn Schedules) -> Result<Task, Failure> {
    store.task(name).await?.ok_or_else(|| {
        Failure::usage(format!("there is no task \"{name}\"")).hint("memoir schedule list shows all of them.")
    })
}

fn refuse_schedule(error: CronError) -> Failure {
    let hint = match &error {
        CronError::Line { .. } => {
            "Five fields: minute, hour, day, month, weekday; six with seconds before them. 0 9 * * MON-FRI is nine on workdays."
        }
        CronError::Zone(_) => "Use a name like Europe/Berlin or UTC.",
        CronError::Never(_) => "Look at the day and the month: there is no such date.",
        CronError::Over => "Give one that is still to come.",
    };
    Failure::usage(error.to_string()).hint(hint)
}
