//! Whether the server works.

use std::sync::Arc;

use axum::{Json, extract::State};
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{extract::View, problem::Problem, state::AppState};

/// Whether the memory can be read.
#[derive(Serialize, ToSchema)]
pub(super) struct Status {
    /// Always `ok`.
    status: &'static str,
    /// Version of the server.
    version: &'static str,
    /// Project of the requests of this token, if it covers only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
}

/// Answers `ok` if the memory can be read, without a token and without details.
pub(super) async fn check(State(state): State<Arc<AppState>>) -> Result<&'static str, Problem> {
    read(&state).await?;
    Ok("ok\n")
}

/// Check the server
///
/// Returns the version of the server, if it can read the memory.
#[utoipa::path(get, path = "/health", tag = "recall", operation_id = "check_health", responses((status = OK, body = Status)))]
pub(super) async fn status(
    State(state): State<Arc<AppState>>,
    View(view): View,
) -> Result<Json<Status>, Problem> {
    read(&state).await?;
    let project = view.limited_to().map(str::to_owned);
    Ok(Json(Status { status: "ok", version: env!("CARGO_PKG_VERSION"), project }))
}

async fn read(state: &AppState) -> Result<(), Problem> {
    state.runtime.store().deletion_count().await.map(drop).map_err(|error| {
        tracing::warn!(%error, "the memory cannot be read");
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the memory cannot be read")
            .hint("Run `memoir doctor` on the server.")
    })
}
