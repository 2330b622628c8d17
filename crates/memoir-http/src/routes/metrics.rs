//! Counts and times of requests, for Prometheus.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{StatusCode, header};

use crate::{problem::Problem, state::AppState};

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) async fn show(State(state): State<Arc<AppState>>) -> Response {
    match state.metrics.encode() {
        Ok(text) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(error) => {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the metrics cannot be written: {error}"))
                .into_response()
        }
    }
}
