//! Scheduled tasks and their reports.

use std::sync::Arc;

use axum::{Json, extract::State};
use http::StatusCode;
use memoir_core::{Clock as _, Run, RunId, SystemClock, Task, Timestamp};
use memoir_runtime::operations::tasks;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::cursor::{DEFAULT_LIMIT, MAX_LIMIT, page_size};
use crate::{
    extract::{Body, Parameters, Segment},
    problem::Problem,
    state::AppState,
};

/// A scheduled task.
#[derive(Serialize, ToSchema)]
pub(super) struct TaskBody {
    /// Unique name.
    name: String,
    /// Prompt for the sub-agent.
    prompt: String,
    /// Project that it works in.
    project: String,
    /// Whether it is paused.
    paused: bool,
    /// When it is due next, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_due: Option<String>,
}

impl From<Task> for TaskBody {
    fn from(task: Task) -> Self {
        Self {
            name: task.definition.name,
            prompt: task.definition.prompt,
            project: task.definition.scope,
            paused: task.paused,
            next_due: task.next_due.map(|due| due.to_string()),
        }
    }
}

/// All tasks.
#[derive(Serialize, ToSchema)]
pub(super) struct TaskList {
    /// Tasks.
    tasks: Vec<TaskBody>,
}

/// A run of a task.
#[derive(Serialize, ToSchema)]
pub(super) struct RunBody {
    /// Id of the run.
    id: i64,
    /// Name of the task.
    task: String,
    /// When it started, in RFC 3339.
    started: String,
    /// When it ended, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    /// `running`, `done`, `failed`, `timed_out`, `cut_off` or `stopped`.
    state: &'static str,
    /// The report of the sub-agent.
    report: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Whether you have read it.
    read: bool,
}

impl From<Run> for RunBody {
    fn from(run: Run) -> Self {
        Self {
            id: run.id.get(),
            task: run.task,
            started: run.started.to_string(),
            ended: run.ended.as_ref().map(Timestamp::to_string),
            state: run.outcome.state.as_str(),
            report: run.outcome.report,
            error: run.outcome.error,
            read: run.is_read,
        }
    }
}

/// The latest reports.
#[derive(Serialize, ToSchema)]
pub(super) struct Inbox {
    /// Runs, newest first.
    runs: Vec<RunBody>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct InboxParameters {
    /// Maximum number of runs; 20 if it is left out.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// Whether a task is paused.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskChange {
    /// Whether it is to be paused.
    paused: bool,
}

/// Reports that the user has read.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadReports {
    /// Ids of runs.
    #[schema(max_items = 100)]
    runs: Vec<i64>,
}

/// List scheduled tasks
#[utoipa::path(get, path = "/tasks", tag = "administration", operation_id = "list_tasks",
    responses((status = OK, body = TaskList)))]
pub(super) async fn list(State(state): State<Arc<AppState>>) -> Result<Json<TaskList>, Problem> {
    let list = tasks::list(state.runtime.store().as_ref()).await?;
    Ok(Json(TaskList { tasks: list.tasks.into_iter().map(TaskBody::from).collect() }))
}

/// Show the inbox
///
/// Returns the latest runs with their reports. Reading them here does not mark them as read.
#[utoipa::path(get, path = "/inbox", tag = "administration", operation_id = "show_inbox",
    params(InboxParameters), responses((status = OK, body = Inbox)))]
pub(super) async fn inbox(
    State(state): State<Arc<AppState>>,
    Parameters(parameters): Parameters<InboxParameters>,
) -> Result<Json<Inbox>, Problem> {
    let limit = page_size(parameters.limit)?;
    let runs = state.runtime.store().runs(None, limit).await.map_err(memoir_runtime::Failure::from)?;
    Ok(Json(Inbox { runs: runs.into_iter().map(RunBody::from).collect() }))
}

/// Pause or resume a task
#[utoipa::path(put, path = "/tasks/{name}", tag = "administration", operation_id = "pause_task",
    params(("name" = String, Path, description = "Name of the task")),
    request_body = TaskChange, responses((status = OK, body = TaskBody)))]
pub(super) async fn pause(
    State(state): State<Arc<AppState>>,
    Segment(name): Segment<String>,
    Body(change): Body<TaskChange>,
) -> Result<Json<TaskBody>, Problem> {
    let store = state.runtime.store().as_ref();
    let exists = tasks::list(store).await?.tasks.iter().any(|task| task.definition.name == name);
    if !exists {
        return Err(Problem::missing("such task"));
    }
    match change.paused {
        true => tasks::pause(&name, store).await?,
        false => tasks::resume(&name, store, SystemClock.now()).await?,
    };
    Ok(Json(tasks::show(&name, store).await?.task.into()))
}

/// Mark reports as read
///
/// Ids of runs that do not exist are ignored.
#[utoipa::path(post, path = "/inbox/read", tag = "administration", operation_id = "mark_reports_read",
    request_body = ReadReports, responses((status = OK, body = Inbox)))]
pub(super) async fn mark_read(
    State(state): State<Arc<AppState>>,
    Body(reports): Body<ReadReports>,
) -> Result<Json<Inbox>, Problem> {
    if reports.runs.len() > MAX_LIMIT as usize {
        return Err(Problem::new(StatusCode::BAD_REQUEST, format!("give at most {MAX_LIMIT} ids")));
    }
    let ids: Vec<RunId> = reports.runs.into_iter().map(RunId::new).collect();
    let store = state.runtime.store();
    let failed = memoir_runtime::Failure::from;
    store.mark_read(&ids).await.map_err(failed)?;
    let runs = store.runs(None, DEFAULT_LIMIT).await.map_err(failed)?;
    Ok(Json(Inbox { runs: runs.into_iter().map(RunBody::from).collect() }))
}
