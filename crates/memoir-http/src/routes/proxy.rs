//! The APIs of model providers, which are forwarded with what memory adds.

use std::sync::Arc;

use axum::{
    Extension, Json,
    body::{Body, to_bytes},
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, post},
};
use http::StatusCode;
use memoir_core::Right;
use memoir_providers::ClientApi;
use memoir_serve::proxy::{ProxyRequest, error_reply, find_model, list_models};

use crate::{
    access::Caller,
    extract::{Segment, View},
    problem::Problem,
    state::AppState,
};

/// Maximum size of a request, which contains a whole conversation with its images.
const MAX_BODY_BYTES: usize = 32 << 20;

/// Returns the handler of an API.
pub(super) fn serve(api: ClientApi) -> MethodRouter<Arc<AppState>> {
    post(move |state: State<Arc<AppState>>, caller: Extension<Caller>, view: View, request: Request| {
        forward(api, state, caller, view, request)
    })
}

pub(super) async fn models(State(state): State<Arc<AppState>>) -> Response {
    Json(list_models(state.runtime.models()).await).into_response()
}

pub(super) async fn model(State(state): State<Arc<AppState>>, Segment(id): Segment<String>) -> Response {
    match find_model(state.runtime.models(), &id).await {
        Some(model) => Json(model).into_response(),
        None => refuse(ClientApi::Chat, StatusCode::NOT_FOUND, "there is no such model"),
    }
}

async fn forward(
    api: ClientApi,
    State(state): State<Arc<AppState>>,
    Extension(caller): Extension<Caller>,
    View(view): View,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    // The answer may take long, but not the question.
    let body = match tokio::time::timeout(state.limits.request_time, to_bytes(body, MAX_BODY_BYTES)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            return refuse(api, StatusCode::PAYLOAD_TOO_LARGE, "the request is too large or incomplete");
        }
        Err(_) => return refuse(api, StatusCode::REQUEST_TIMEOUT, "the request was sent too slowly"),
    };
    let token = &caller.0;
    let request = ProxyRequest {
        api,
        program: token.name.clone(),
        // A token of the same name may be created after this one has been revoked.
        owner: format!("{} {} {}", token.name, token.created, view.limited_to().unwrap_or_default()),
        may_read: token.allows(Right::Read),
        view,
        headers: parts.headers,
        body,
    };
    state.proxy.answer(request).await.map(Body::from_stream)
}

fn refuse(api: ClientApi, status: StatusCode, message: &str) -> Response {
    error_reply(api, status, message).map(Body::from_stream)
}

/// Writes the problems of a request as the program's API does.
pub(super) async fn translate_problems(request: Request, next: Next) -> Response {
    let api =
        if request.uri().path().starts_with("/v1/messages") { ClientApi::Messages } else { ClientApi::Chat };
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<Problem>() {
        Some(problem) => {
            let mut translated = refuse(api, response.status(), &problem.sentence());
            *translated.extensions_mut() = std::mem::take(response.extensions_mut());
            translated
        }
        None => response,
    }
}
