//! Errors as `application/problem+json` (RFC 9457).

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use memoir_runtime::{Failure, FailureKind};
use serde::Serialize;
use utoipa::ToSchema;

/// Why a request failed.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Phrase for the status.
    title: &'static str,
    /// HTTP status.
    #[serde(serialize_with = "as_number")]
    #[schema(value_type = u16)]
    status: StatusCode,
    /// What went wrong.
    detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

fn as_number<S: serde::Serializer>(status: &StatusCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(status.as_u16())
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Error");
        Self { title, status, detail: detail.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Describes why something could not be stored. What has been forgotten is gone, which differs from a wrong address.
    pub(crate) fn not_stored(failure: Failure) -> Self {
        let is_forgotten = failure.kind == FailureKind::Missing;
        let problem = Self::from(failure);
        match is_forgotten {
            true => Self { hint: problem.hint, ..Self::new(StatusCode::GONE, problem.detail) },
            false => problem,
        }
    }

    /// Returns the phrase for the status.
    pub(crate) fn title(&self) -> &'static str {
        self.title
    }

    /// Returns the status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns what went wrong and what to do about it, as sentences.
    pub(crate) fn sentence(&self) -> String {
        let end = if self.detail.ends_with('.') { "" } else { "." };
        match &self.hint {
            Some(hint) => format!("{}{end} {hint}", self.detail),
            None => format!("{}{end}", self.detail),
        }
    }

    /// Creates the problem of something that does not exist, or that the token does not cover.
    pub(crate) fn missing(what: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no {what}"))
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let status = match failure.kind {
            FailureKind::Usage => StatusCode::BAD_REQUEST,
            FailureKind::Missing => StatusCode::NOT_FOUND,
            FailureKind::Failed
            | FailureKind::Stopped
            | FailureKind::Interrupted
            | FailureKind::BrokenPipe => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let hint = failure.hint_text().map(str::to_owned);
        if status.is_server_error() {
            tracing::warn!(reason = failure.message, "could not answer a request");
        }
        Self { hint, ..Self::new(status, failure.message) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status;
        let mut response = (status, Json(&self)).into_response();
        response.extensions_mut().insert(self);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"memoir\""));
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
