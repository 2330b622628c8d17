//! Pages for the user's browser: one file per page, and one list. They are made of HTML that the server renders, one style
//! sheet and one script, which are part of the program. Without the script, all but the chat and imports work.

mod activity;
mod assets;
mod background;
mod chart;
mod chat;
mod conversation;
mod conversations;
mod core_memory;
mod documents;
mod exchange;
mod facts;
mod forgetting;
mod import;
mod layout;
mod login;
mod markdown;
mod navigation;
mod programs;
mod search;
mod text;
mod visitor;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse as _, Redirect, Response},
    routing::{MethodRouter, get, post},
};
use http::{HeaderValue, StatusCode, header};
use memoir_core::Right;

use crate::{
    access::{identify, require},
    limits::limit_time,
    problem::Problem,
    state::AppState,
};

/// What pages may load and do: only what comes from this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// All pages, with the right that each needs.
pub(crate) fn router(state: &Arc<AppState>) -> Router<Arc<AppState>> {
    let needs = |right: Right, routes: Vec<(&str, MethodRouter<Arc<AppState>>)>| {
        let router =
            routes.into_iter().fold(Router::new(), |router, (path, route)| router.route(path, route));
        router.route_layer(from_fn_with_state(right, require))
    };
    let from_state = || Arc::clone(state);
    let read = needs(
        Right::Read,
        vec![
            ("/", get(search::show)),
            ("/conversations", get(conversations::show)),
            ("/conversations/{id}", get(conversation::show)),
            ("/exchanges/{id}", get(exchange::show)),
            ("/documents", get(documents::list)),
            ("/documents/{name}", get(documents::show)),
            ("/facts", get(facts::show)),
        ],
    );
    let forget = needs(Right::Forget, vec![("/forget", get(forgetting::show).post(forgetting::forget))]);
    let admin = needs(
        Right::Admin,
        vec![
            ("/activity", get(activity::show)),
            ("/core-memory", get(core_memory::show).post(core_memory::change)),
            ("/background", get(background::show)),
            ("/programs", get(programs::show)),
            ("/import", get(import::show)),
            ("/chat", get(chat::show)),
        ],
    );
    // These take as long as they take.
    let long = needs(
        Right::Admin,
        vec![("/import/files", post(import::receive)), ("/chat/turns", post(chat::answer))],
    );
    let private = Router::new()
        .merge(read)
        .merge(forget)
        .merge(admin)
        .route_layer(from_fn_with_state(from_state(), limit_time))
        .merge(long)
        .route_layer(from_fn_with_state(from_state(), authenticate));
    Router::new()
        .merge(private)
        .route("/login", get(login::show).post(login::log_in))
        .route("/logout", post(login::log_out))
        .route_layer(from_fn(show_problems))
        .merge(assets::router())
        .layer(axum::middleware::map_response(add_policy))
}

/// Lets a browser through that is logged in, and leads others to the page on which they log in.
async fn authenticate(State(state): State<Arc<AppState>>, mut request: Request, next: Next) -> Response {
    match identify(&state, request.method(), request.headers()).await {
        Ok(Some(caller)) => {
            request.extensions_mut().insert(caller.clone());
            let mut response = next.run(request).await;
            // The access log names the token.
            response.extensions_mut().insert(caller);
            response
        }
        Ok(None) if request.method().is_safe() => {
            Redirect::to(&login::address(request.uri())).into_response()
        }
        Ok(None) => Problem::new(StatusCode::UNAUTHORIZED, "you are not logged in")
            .hint("Nothing was changed. Run `memoir open` to log in, and try again.")
            .into_response(),
        Err(failure) => Problem::from(failure).into_response(),
    }
}

/// Shows problems as pages, except to scripts.
async fn show_problems(request: Request, next: Next) -> Response {
    let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let is_page = accept.is_none_or(|accept| accept.contains("text/html") || accept.contains("*/*"));
    let response = next.run(request).await;
    match response.extensions().get::<Problem>() {
        Some(problem) if is_page => layout::problem(problem),
        _ => response,
    }
}

async fn add_policy(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // Without a referrer, browsers would not name the origin of forms either.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}
