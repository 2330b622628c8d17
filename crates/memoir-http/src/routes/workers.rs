//! Work in the background.

use std::sync::Arc;

use axum::{Json, extract::State};
use memoir_runtime::operations::workers::{self, QueueReport};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{problem::Problem, state::AppState};

/// The jobs of all workers.
#[derive(Serialize, ToSchema)]
pub(super) struct WorkerReply {
    /// One entry per worker.
    workers: Vec<WorkerBody>,
    /// Cost of background work today, such as `$0.02`.
    spent_today: String,
    /// Number of jobs that failed permanently.
    failed: u64,
}

/// The jobs of a worker.
#[derive(Serialize, ToSchema)]
struct WorkerBody {
    /// Name of the worker.
    worker: &'static str,
    /// Whether it is enabled.
    on: bool,
    /// Number of jobs that wait for it.
    pending: u64,
}

impl From<QueueReport> for WorkerReply {
    fn from(report: QueueReport) -> Self {
        let queues = report.queues.into_iter();
        let workers = queues.map(|queue| WorkerBody {
            worker: queue.worker.as_str(),
            on: queue.is_on,
            pending: queue.pending,
        });
        Self {
            workers: workers.collect(),
            spent_today: report.spent_today.to_string(),
            failed: report.failed,
        }
    }
}

/// Show workers
///
/// Returns what waits to be done in the background, such as new documents that are not embedded yet.
#[utoipa::path(get, path = "/workers", tag = "administration", operation_id = "show_workers",
    responses((status = OK, body = WorkerReply)))]
pub(super) async fn list(State(state): State<Arc<AppState>>) -> Result<Json<WorkerReply>, Problem> {
    Ok(Json(workers::list_queues(&state.runtime).await?.into()))
}
