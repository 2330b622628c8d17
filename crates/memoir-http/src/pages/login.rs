//! Logging in with a link that works once, or with a token.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse as _, Redirect, Response},
};
use http::{HeaderMap, StatusCode, Uri, header};
use maud::html;
use memoir_runtime::operations::{browser, tokens};
use serde::Deserialize;

use super::layout;
use crate::{
    extract::{Fields, Parameters},
    problem::Problem,
    state::AppState,
};

/// The parameters of the page.
#[derive(Deserialize)]
pub(super) struct LoginParameters {
    /// Code of the link that `memoir open` makes.
    code: Option<String>,
    /// Where the user wanted to go.
    next: Option<String>,
}

/// The fields of the form.
#[derive(Deserialize)]
pub(super) struct LoginFields {
    token: String,
    next: Option<String>,
}

/// Returns the address of the page, which leads back to another.
pub(super) fn address(next: &Uri) -> String {
    match next.path_and_query().map(|path| path.as_str()) {
        None | Some("/") => "/login".to_owned(),
        Some(path) => format!("/login?next={}", encode(path)),
    }
}

/// Encodes a value of a query.
fn encode(value: &str) -> String {
    form_urlencoded::byte_serialize(value.as_bytes()).collect()
}

pub(super) async fn show(
    State(state): State<Arc<AppState>>,
    Parameters(parameters): Parameters<LoginParameters>,
) -> Result<Response, Problem> {
    let next = parameters.next.as_deref();
    let Some(code) = parameters.code else { return Ok(form(next, None)) };
    let home = state.runtime.home();
    if !browser::redeem_code(&code, home) {
        let reason = "This link has been used, or is older than two minutes. Run `memoir open` for another.";
        return Ok(form(next, Some(reason)));
    }
    let secret = tokens::local_secret(state.runtime.store().as_ref(), home).await?;
    welcome(&state, &secret, next)
}

pub(super) async fn log_in(
    State(state): State<Arc<AppState>>,
    Fields(fields): Fields<LoginFields>,
) -> Result<Response, Problem> {
    let (secret, next) = (fields.token.trim(), fields.next.as_deref());
    match tokens::authenticate(secret, state.runtime.store().as_ref()).await? {
        Some(_) => welcome(&state, secret, next),
        None => Ok(form(
            next,
            Some("This is not a valid token. `memoir serve token` prints the one for this machine."),
        )),
    }
}

pub(super) async fn log_out(
    State(state): State<Arc<AppState>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let cookie = state.browsers.log_out(&headers, state.is_encrypted())?;
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to("/login")).into_response())
}

/// Logs the browser in and leads it to a page of this server.
fn welcome(state: &AppState, secret: &str, next: Option<&str>) -> Result<Response, Problem> {
    let cookie = state.browsers.log_in(secret, state.is_encrypted())?;
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to(own_page(next))).into_response())
}

/// Returns the path of a page of this server. Browsers take two slashes, or a slash and a backslash, for another server.
fn own_page(next: Option<&str>) -> &str {
    let is_own = |path: &&str| {
        path.starts_with('/')
            && !path[1..].starts_with(['/', '\\'])
            && path.bytes().all(|byte| byte.is_ascii_graphic())
    };
    next.filter(is_own).unwrap_or("/")
}

fn form(next: Option<&str>, reason: Option<&str>) -> Response {
    let content = html! {
        h1 { "Log in" }
        p { "Run " code { "memoir open" } " in a terminal, or paste a token." }
        @if let Some(reason) = reason { p.problem role="alert" { (reason) } }
        form.card method="post" action="/login" {
            label for="token" { "Token" }
            input #token name="token" type="password" autocomplete="current-password" required;
            @if let Some(next) = next { input type="hidden" name="next" value=(next); }
            button type="submit" { "Log in" }
        }
    };
    let status = if reason.is_some() { StatusCode::UNAUTHORIZED } else { StatusCode::OK };
    (status, layout::page("Log in", None, None, &content)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_logging_in_the_browser_stays_on_this_server() {
        assert_eq!(own_page(Some("/facts?after=x")), "/facts?after=x");
        for path in
            ["//evil.example", "/\\evil.example", "https://evil.example", "/a\r\nSet-Cookie: x", "", "x"]
        {
            assert_eq!(own_page(Some(path)), "/", "{path:?}");
        }
        let uri: Uri = "/?q=a+b&since=x".parse().unwrap_or_default();
        assert_eq!(address(&uri), "/login?next=%2F%3Fq%3Da%2Bb%26since%3Dx");
    }
}
