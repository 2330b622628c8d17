//! The shared HTTP client and the classification of its errors.

use std::{error::Error, sync::LazyLock, time::Duration};

use memoir_models::ModelError;
use reqwest::{
    Client, ClientBuilder,
    header::{HeaderMap, HeaderValue},
    redirect::Policy,
};

use crate::status::shorten;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

static CLIENT: LazyLock<Result<Client, ModelError>> = LazyLock::new(|| build(Client::builder()));

/// Servers on this machine are never behind a proxy.
static LOOPBACK_CLIENT: LazyLock<Result<Client, ModelError>> =
    LazyLock::new(|| build(Client::builder().no_proxy()));

fn build(builder: ClientBuilder) -> Result<Client, ModelError> {
    install_tls_library();
    builder
        .connect_timeout(CONNECT_TIMEOUT)
        // Keys and prompts are for the configured server only.
        .redirect(Policy::none())
        .user_agent(concat!("memoir/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| ModelError::Unreachable { url: "the network".into(), reason: error.to_string() })
}

/// Selects the TLS library, before anything creates an HTTP client. Further calls do nothing.
pub fn install_tls_library() {
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        // Harmless: an earlier call selected the same library.
        tracing::trace!("the TLS library is already selected");
    }
}

/// Returns the client shared by all calls of servers on this machine, or elsewhere. It is created on first use.
pub(crate) fn client(is_loopback: bool) -> Result<Client, ModelError> {
    if is_loopback { LOOPBACK_CLIENT.clone() } else { CLIENT.clone() }
}

/// Returns a header that is not logged.
///
/// # Errors
///
/// Fails if the value cannot be sent in a header.
pub(crate) fn sensitive(value: &str) -> Result<HeaderValue, ModelError> {
    let mut header = HeaderValue::from_str(value).map_err(|_| ModelError::InvalidKey)?;
    header.set_sensitive(true);
    Ok(header)
}

/// Classifies a transport error.
pub(crate) fn transport_error(error: &reqwest::Error, url: &str) -> ModelError {
    // If the connection breaks during the body, the server was reachable but the answer is incomplete.
    if error.is_body() || error.is_decode() {
        return ModelError::Truncated;
    }
    let mut reason: &dyn Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    ModelError::Unreachable { url: url.to_owned(), reason: shorten(&reason.to_string()) }
}

/// Returns the wait that the server asks for, in seconds or, in OpenAI's own header, milliseconds. The rare date format
/// is ignored: the retry policy then picks the wait.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|millis| millis / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}
