//! What every request passes, outermost first.

use std::sync::Arc;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    http::{HeaderName, HeaderValue, Method, header},
    middleware::{from_fn_with_state, map_response},
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use tower_http::{
    catch_panic::CatchPanicLayer,
    cors::{AllowHeaders, AllowOrigin, CorsLayer},
};

use crate::{guard::guard, limits::limit_number, monitoring::monitor, problem::Problem, state::AppState};

/// What browsers may do with an answer.
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// Headers of answers that pages of allowed origins can read.
const EXPOSED: [&str; 4] = ["mcp-session-id", "memoir-conversation", "memoir-recalled", "retry-after"];

/// Adds the layers to the routes.
pub(crate) fn add(router: Router, state: &Arc<AppState>) -> Router {
    let state = || Arc::clone(state);
    let router = router
        .layer(DefaultBodyLimit::max(state().limits.body_bytes))
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| after_panic()))
        .layer(from_fn_with_state(state(), limit_number));
    let router = match cors(&state()) {
        Some(cors) => router.layer(cors),
        None => router,
    };
    router
        .layer(from_fn_with_state(state(), guard))
        .layer(map_response(add_headers))
        .layer(from_fn_with_state(state(), monitor))
}

/// Lets the pages of allowed origins read answers. Without any, browsers keep answers from all other pages.
fn cors(state: &AppState) -> Option<CorsLayer> {
    let origins: Vec<HeaderValue> =
        state.origins.iter().filter_map(|origin| HeaderValue::from_str(origin.as_str()).ok()).collect();
    (!origins.is_empty()).then(|| {
        CorsLayer::new()
            .allow_origin(AllowOrigin::list(origins))
            .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers(EXPOSED.map(HeaderName::from_static))
    })
}

/// Answers are private, and are never what a browser guesses.
async fn add_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Nothing but the pages of this server may load or run anything.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    response
}

fn after_panic() -> Response {
    tracing::error!("answering a request panicked");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed to answer")
        .hint("Nothing that was stored is lost. Run `memoir doctor`, and try again.")
        .into_response()
}
