//! Who sends a request, and what they may do.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, Method, StatusCode, header};
use memoir_core::{AccessToken, Right, TokenScope};
use memoir_runtime::{Failure, operations::tokens, view::MemoryView};

use crate::{problem::Problem, state::AppState};

/// The token of a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller(pub(crate) Arc<AccessToken>);

impl Caller {
    /// Returns the memory as the token may see it: a project of its own, or everything.
    pub(crate) fn view(&self, whole: &MemoryView, project: Option<&str>) -> Result<MemoryView, Problem> {
        match (project, &self.0.scope) {
            (Some(""), _) => Err(Problem::new(StatusCode::BAD_REQUEST, "the project is empty")
                .hint("Leave it out, or name a project.")),
            (Some(project), _) if self.0.covers(project) => Ok(whole.for_project(project.to_owned())),
            (Some(_), _) => Err(Problem::new(StatusCode::FORBIDDEN, "the token does not cover this project")),
            (None, TokenScope::All) => Ok(whole.clone()),
            (None, TokenScope::Projects(projects)) => match projects.as_slice() {
                [project] => Ok(whole.for_project(project.clone())),
                _ => Err(Problem::new(StatusCode::BAD_REQUEST, "the token covers several projects")
                    .hint("Name one of them.")),
            },
        }
    }
}

/// Lets requests with a valid token through.
pub(crate) async fn authenticate(
    State(state): State<Arc<AppState>>,
    mut request: Request,
    next: Next,
) -> Response {
    match identify(&state, request.method(), request.headers()).await {
        Ok(Some(caller)) => {
            request.extensions_mut().insert(caller.clone());
            let mut response = next.run(request).await;
            // The access log names the token.
            response.extensions_mut().insert(caller);
            response
        }
        Ok(None) => Problem::new(StatusCode::UNAUTHORIZED, "a valid token is needed")
            .hint("Send it as a bearer token. `memoir serve token` prints the one for this machine.")
            .into_response(),
        Err(failure) => Problem::from(failure).into_response(),
    }
}

/// Returns who sends a request: a program with its token, or a browser that is logged in.
pub(crate) async fn identify(
    state: &AppState,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Option<Caller>, Failure> {
    let secret = match bearer(headers) {
        Some(secret) => Some(secret.to_owned()),
        None => state.browsers.secret(method, headers),
    };
    let Some(secret) = secret else { return Ok(None) };
    let token = tokens::authenticate(&secret, state.runtime.store().as_ref()).await?;
    Ok(token.map(|token| Caller(Arc::new(token))))
}

/// Header for the token of a program that sends the key of a provider in the usual one.
pub(crate) const TOKEN_HEADER: &str = "memoir-token";

/// Returns the token of a request. Anthropic's programs send keys in a header of their own.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let plain = |name: &str| headers.get(name).map(|value| value.to_str().map(str::trim));
    if let Some(token) = plain(TOKEN_HEADER) {
        return token.ok();
    }
    if !headers.contains_key(header::AUTHORIZATION) {
        return plain("x-api-key")?.ok();
    }
    let (scheme, secret) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// Lets requests through whose token allows something.
pub(crate) async fn require(State(right): State<Right>, request: Request, next: Next) -> Response {
    match request.extensions().get::<Caller>() {
        Some(caller) if caller.0.allows(right) => next.run(request).await,
        _ => Problem::new(StatusCode::FORBIDDEN, format!("the token lacks the right to {}", right.as_str()))
            .hint("Create another with `memoir serve token add`.")
            .into_response(),
    }
}
