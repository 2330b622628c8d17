//! Who is logged in with a browser.
//!
//! A browser sends a cookie with a random key, which the server keeps together with the token that the user logged in with.
//! The token is looked up again for each request, so a browser loses its rights as soon as the token is revoked. Sessions
//! are kept in memory only, because a browser sends the cookie to all servers of the same host.

use std::{
    collections::HashMap,
    sync::Mutex,
    time::{Duration, Instant},
};

use http::{HeaderMap, HeaderValue, Method, header};
use memoir_core::lock;
use memoir_runtime::{Failure, operations::tokens::random_text};

/// Name of the cookie.
const COOKIE: &str = "memoir_session";

/// How long a browser stays logged in.
const LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// Maximum number of browsers.
const MAX_SESSIONS: usize = 256;

struct Session {
    secret: String,
    ends: Instant,
}

/// The browsers that are logged in.
#[derive(Default)]
pub(crate) struct Browsers(Mutex<HashMap<String, Session>>);

impl Browsers {
    /// Logs a browser in with the secret of a token. Returns the cookie to set.
    pub(crate) fn log_in(&self, secret: &str, is_encrypted: bool) -> Result<HeaderValue, Failure> {
        let key = random_text()?;
        let cookie = cookie(&key, LIFETIME, is_encrypted)?;
        let mut sessions = lock(&self.0);
        sessions.retain(|_, session| session.ends > Instant::now());
        if sessions.len() >= MAX_SESSIONS
            && let Some(oldest) = sessions.iter().min_by_key(|(_, session)| session.ends)
        {
            let oldest = oldest.0.clone();
            sessions.remove(&oldest);
        }
        sessions.insert(key, Session { secret: secret.to_owned(), ends: Instant::now() + LIFETIME });
        Ok(cookie)
    }

    /// Logs a browser out. Returns the cookie to set.
    pub(crate) fn log_out(&self, headers: &HeaderMap, is_encrypted: bool) -> Result<HeaderValue, Failure> {
        if let Some(key) = key(headers) {
            lock(&self.0).remove(key);
        }
        cookie("", Duration::ZERO, is_encrypted)
    }

    /// Returns the secret of the token that the browser logged in with, if the request comes from a page of this server or
    /// from the user.
    pub(crate) fn secret(&self, method: &Method, headers: &HeaderMap) -> Option<String> {
        if !is_own(method, headers) {
            return None;
        }
        let sessions = lock(&self.0);
        let session = sessions.get(key(headers)?).filter(|session| session.ends > Instant::now())?;
        Some(session.secret.clone())
    }
}

/// Returns whether a request was caused by a page of this server, or by the user who opened an address. Other origins have
/// been refused already, but older browsers do not send the origin with every request.
fn is_own(method: &Method, headers: &HeaderMap) -> bool {
    match headers.get("sec-fetch-site") {
        Some(site) => site == "same-origin" || site == "none",
        None => method.is_safe() || headers.contains_key(header::ORIGIN),
    }
}

/// Returns the key that a browser sends.
fn key(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find_map(|(name, value)| (name == COOKIE).then_some(value))
}

fn cookie(key: &str, lifetime: Duration, is_encrypted: bool) -> Result<HeaderValue, Failure> {
    let secure = if is_encrypted { "; Secure" } else { "" };
    let seconds = lifetime.as_secs();
    let text = format!("{COOKIE}={key}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    HeaderValue::from_str(&text).map_err(|error| Failure::failed(format!("the cookie is malformed: {error}")))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_browser_is_known_until_it_logs_out_and_only_on_its_own_pages() {
        let browsers = Browsers::default();
        let cookie = browsers.log_in("secret", false).unwrap();
        let pair = cookie.to_str().unwrap().split(';').next().unwrap().to_owned();
        let cookies = format!("theme=dark; {pair}");
        let known = headers(&[("cookie", &cookies)]);
        assert_eq!(browsers.secret(&Method::GET, &known).as_deref(), Some("secret"));
        assert_eq!(browsers.secret(&Method::POST, &known), None, "nobody knows which page sent it");
        for (site, is_allowed) in
            [("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false)]
        {
            let request = headers(&[("cookie", &cookies), ("sec-fetch-site", site)]);
            assert_eq!(browsers.secret(&Method::POST, &request).is_some(), is_allowed, "{site}");
        }
        assert_eq!(browsers.secret(&Method::GET, &headers(&[("cookie", "memoir_session=")])), None);
        browsers.log_out(&known, false).unwrap();
        assert_eq!(browsers.secret(&Method::GET, &known), None);
        for _ in 0..2 * MAX_SESSIONS {
            browsers.log_in("secret", true).unwrap();
        }
        assert_eq!(lock(&browsers.0).len(), MAX_SESSIONS);
    }
}
