//! The Model Context Protocol.

use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use memoir_runtime::view::MemoryView;
use memoir_serve::mcp::HttpClient;

use crate::{access::Caller, extract::Segment, state::AppState};

/// Serves everything that the token covers.
pub(super) async fn serve(
    State(state): State<Arc<AppState>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    match caller.view(&state.view, None) {
        Ok(view) => answer(&state, &caller, view, "", request).await,
        Err(problem) => problem.hint("Add the path of one to the address: /mcp/PATH.").into_response(),
    }
}

/// Serves one project. Its name is a path, which begins with a slash.
pub(super) async fn serve_project(
    State(state): State<Arc<AppState>>,
    Extension(caller): Extension<Caller>,
    Segment(path): Segment<String>,
    request: Request,
) -> Response {
    let project = format!("/{}", path.trim_matches('/'));
    match caller.view(&state.view, Some(&project)) {
        Ok(view) => answer(&state, &caller, view, &project, request).await,
        Err(problem) => problem.into_response(),
    }
}

async fn answer(
    state: &AppState,
    caller: &Caller,
    view: MemoryView,
    project: &str,
    request: Request,
) -> Response {
    let token = &caller.0;
    // A token of the same name may be created after this one has been revoked.
    let owner = format!("{} {} {project}", token.name, token.created);
    let client = HttpClient { owner, view, rights: token.rights.clone() };
    state.sessions.handle(client, request).await.map(Body::new)
}
