//! What handlers take from a request. Malformed input is a problem that says what is wrong.

use std::sync::Arc;

use axum::{
    Form, Json,
    extract::{FromRequest, FromRequestParts, Path, Query, Request, rejection::JsonRejection},
};
use http::{StatusCode, request::Parts};
use memoir_runtime::view::MemoryView;
use serde::{Deserialize, de::DeserializeOwned};

use crate::{access::Caller, problem::Problem, state::AppState};

/// The memory as the token of the request may see it. The parameter `project` of the query or a header narrows it.
pub(crate) struct View(pub(crate) MemoryView);

/// Header that names a project, for programs that cannot change the address.
const PROJECT_HEADER: &str = "memoir-project";

#[derive(Deserialize)]
struct ProjectParameter {
    project: Option<String>,
}

impl FromRequestParts<Arc<AppState>> for View {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self, Problem> {
        let Parameters(ProjectParameter { project }) = Parameters::from_request_parts(parts, state).await?;
        let caller = parts
            .extensions
            .get::<Caller>()
            .ok_or_else(|| Problem::new(StatusCode::UNAUTHORIZED, "a valid token is needed"))?;
        let header = parts.headers.get(PROJECT_HEADER).map(|value| {
            value
                .to_str()
                .map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "the name of the project is not ASCII"))
        });
        let project = project.as_deref().map(Ok).or(header).transpose()?;
        caller.view(&state.view, project).map(Self)
    }
}

/// The parameters of the query.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(rejection) => Err(Problem::new(StatusCode::BAD_REQUEST, rejection.body_text())),
        }
    }
}

/// A variable part of the path.
pub(crate) struct Segment<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Segment<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(value)) => Ok(Self(value)),
            Err(rejection) => Err(Problem::new(StatusCode::BAD_REQUEST, rejection.body_text())),
        }
    }
}

/// A body in JSON.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match Json::from_request(request, state).await {
            Ok(Json(value)) => Ok(Self(value)),
            Err(rejection) => Err(malformed(&rejection)),
        }
    }
}

/// The fields of a form.
pub(crate) struct Fields<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Fields<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match Form::from_request(request, state).await {
            Ok(Form(value)) => Ok(Self(value)),
            Err(rejection) => Err(Problem::new(rejection.status(), rejection.body_text())),
        }
    }
}

fn malformed(rejection: &JsonRejection) -> Problem {
    let problem = Problem::new(rejection.status(), rejection.body_text());
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => problem.hint("Send less at once."),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => problem.hint("Send JSON as `application/json`."),
        _ => problem,
    }
}
