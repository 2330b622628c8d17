//! Limits on what clients may use.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::StatusCode;

use crate::{problem::Problem, state::AppState};

/// Limits of a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum size of a request, in bytes.
    pub body_bytes: usize,
    /// Maximum time until the answer to a request begins.
    pub request_time: Duration,
    /// Maximum time for the headers of a request, and for the handshake of TLS.
    pub header_time: Duration,
    /// Maximum number of requests whose answers have not begun.
    pub requests: usize,
    /// Maximum number of open connections.
    pub connections: usize,
    /// How long a server that is stopping waits for answers that have begun.
    pub shutdown_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 2 << 20,
            request_time: Duration::from_secs(60),
            header_time: Duration::from_secs(10),
            requests: 64,
            connections: 2048,
            shutdown_time: Duration::from_secs(30),
        }
    }
}

/// Answers a request unless there are too many.
pub(crate) async fn limit_number(
    State(state): State<Arc<AppState>>,
    request: Request,
    next: Next,
) -> Response {
    let Ok(_permit) = state.permits.try_acquire() else {
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is answering too many requests")
            .hint("Try again in a second.")
            .into_response();
    };
    next.run(request).await
}

/// Answers a request unless it takes too long, including the time to receive its body.
pub(crate) async fn limit_time(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    match tokio::time::timeout(state.limits.request_time, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            let seconds = state.limits.request_time.as_secs();
            Problem::new(StatusCode::REQUEST_TIMEOUT, format!("the request took longer than {seconds} s"))
                .hint("Try again.")
                .into_response()
        }
    }
}
