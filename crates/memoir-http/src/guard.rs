//! Refuses requests that a page of another site sends through the user's browser.
//!
//! A page cannot read answers of another origin, but it can send requests, and it can point its own name at this machine
//! (DNS rebinding). The host of a request must therefore be a name of this server, and its origin, which browsers add,
//! must be the server itself or one that the user has allowed.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, StatusCode, Uri, header, uri::Authority};
use memoir_runtime::Failure;

use crate::{problem::Problem, state::AppState};

/// A site that may call the server: a scheme, a host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin(String);

impl Origin {
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let uri: Option<Uri> = text.trim_end_matches('/').parse().ok();
        let origin = uri.filter(|uri| uri.path() == "/" && uri.query().is_none()).and_then(|uri| {
            let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme))?;
            Some(Self(format!("{scheme}://{}", uri.authority()?.as_str().to_ascii_lowercase())))
        });
        origin.ok_or_else(|| {
            Failure::usage(format!("\"{text}\" is not an origin"))
                .hint("An origin is a scheme, a host and a port, such as https://notes.example:8443.")
        })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The names under which a server may be reached.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// Those that the user has given, and `localhost` and the address.
    names: Vec<String>,
    given: usize,
    /// Whether any address will do. An address cannot be pointed elsewhere, but only this machine has a loopback address.
    allows_addresses: bool,
}

impl Hosts {
    pub(crate) fn new(listen: IpAddr, given: &[String]) -> Self {
        let names = given.iter().map(|name| name.to_ascii_lowercase());
        let names = names.chain(["localhost".to_owned(), listen.to_string()]).collect();
        Self { names, given: given.len(), allows_addresses: !listen.is_loopback() }
    }

    /// Returns the names that the user has given.
    pub(crate) fn names(&self) -> &[String] {
        &self.names[..self.given]
    }

    fn allow(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        match host.parse::<IpAddr>() {
            Ok(address) => {
                self.allows_addresses
                    || address.is_loopback()
                    || self.names.iter().any(|name| name == &address.to_string())
            }
            Err(_) => self.names.iter().any(|name| name.eq_ignore_ascii_case(host)),
        }
    }
}

/// Refuses requests for other hosts, and those of pages of other origins.
pub(crate) async fn guard(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    match check(&state, request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn check(state: &AppState, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let refused = |detail: &str| Problem::new(StatusCode::FORBIDDEN, detail);
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next(), uri.authority()) {
        (Some(host), None, None) => host.to_str().ok().and_then(|host| host.parse::<Authority>().ok()),
        (_, None, Some(authority)) => Some(authority.clone()),
        _ => None,
    };
    let Some(host) = host.filter(|host| state.hosts.allow(host.host())) else {
        return Err(refused("the server does not answer under this host")
            .hint("Start it with `--host NAME` to reach it under another name."));
    };
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let own = format!("{}://{host}", state.scheme).to_ascii_lowercase();
    let is_allowed =
        |origin: &str| origin == own || state.origins.iter().any(|allowed| allowed.as_str() == origin);
    match origin.to_str() {
        Ok(origin) if is_allowed(&origin.to_ascii_lowercase()) => Ok(()),
        _ => Err(refused("pages of other origins may not call this server")
            .hint("Start it with `--allow-origin URL` to allow one.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_server_are_hosts() {
        let local = Hosts::new([127, 0, 0, 1].into(), &["Hub.example".to_owned()]);
        let allowed = ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]", "hub.example"];
        assert!(allowed.iter().all(|host| local.allow(host)));
        let refused = ["evil.example", "localhost.evil.example", "192.168.1.2", "", "127.0.0.1.evil.example"];
        assert!(!refused.iter().any(|host| local.allow(host)));
        let public = Hosts::new([0, 0, 0, 0].into(), &[]);
        assert!(public.allow("192.168.1.2") && !public.allow("evil.example"));
    }

    #[test]
    fn origins_have_a_scheme_a_host_and_no_path() {
        assert_eq!(
            Origin::parse("https://Notes.example:8443/").ok().as_ref().map(Origin::as_str),
            Some("https://notes.example:8443")
        );
        for text in ["notes.example", "https://notes.example/page", "ftp://x", "null", "*", ""] {
            assert!(Origin::parse(text).is_err(), "{text}");
        }
    }
}
