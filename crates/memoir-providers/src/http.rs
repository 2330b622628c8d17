//! The one HTTP client, and what its failures mean.

use std::{error::Error, sync::LazyLock, time::Duration};

use memoir_models::ModelError;
use reqwest::header::HeaderMap;

use crate::status::cut;

/// Connecting takes a moment or is not going to happen.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

static CLIENT: LazyLock<Result<reqwest::Client, ModelError>> = LazyLock::new(|| {
    install_tls_library();
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("memoir/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| ModelError::Unreachable { url: "the network".into(), reason: error.to_string() })
});

/// Chooses the TLS library, which is a choice per process.
fn install_tls_library() {
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        // A second choice is refused and changes nothing.
        tracing::trace!("the TLS library has been chosen before");
    }
}

/// Returns the client that every call shares, which is made when first needed.
pub(crate) fn client() -> Result<reqwest::Client, ModelError> {
    CLIENT.clone()
}

/// A client for this machine alone, which no proxy has any business with.
pub(crate) fn loopback_client() -> Option<reqwest::Client> {
    install_tls_library();
    // Without a client no server on this machine is found, and the next choice of a model applies.
    let client = reqwest::Client::builder().no_proxy().build();
    client.inspect_err(|error| tracing::warn!(%error, "cannot make an HTTP client for this machine")).ok()
}

/// What a transport failure means.
pub(crate) fn transport_error(error: &reqwest::Error, url: &str) -> ModelError {
    // A connection that breaks while the body comes is a cut, not an unreachable server.
    if error.is_body() || error.is_decode() {
        return ModelError::Truncated;
    }
    let mut reason: &dyn Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    ModelError::Unreachable { url: url.to_owned(), reason: cut(&reason.to_string()) }
}

/// How long the server wants one to wait: in seconds, or in milliseconds as OpenAI says it. A date there is
/// rare, and waiting by our own plan is no worse.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|millis| millis / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}
