//! Scheduled tasks and their reports.

use std::sync::Arc;

use axum::{Json, extract::State};
use memoir_core::{Run, Task, Timestamp};
use memoir_runtime::operations::tasks;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::cursor::page_size;
use crate::{extract::Parameters, problem::Problem, state::AppState};

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
