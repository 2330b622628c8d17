//! Errors of model calls, with one variant per way a caller can react.

use std::time::Duration;

/// Why a model call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The server cannot be reached. A retry may help.
    #[error("cannot reach the model's server at {url}: {reason}")]
    Unreachable {
        /// The address that was tried.
        url: String,
        /// Innermost cause of the network error.
        reason: String,
    },
    /// The API key is missing or wrong.
    #[error("the server rejected the API key (status {status}): {message}")]
    Authentication {
        /// HTTP status, 401 or, from some providers, 400.
        status: u16,
        /// The server's explanation, truncated if it is long.
        message: String,
    },
    /// The API key cannot be sent.
    #[error("the API key contains characters that cannot be sent")]
    InvalidKey,
    /// The API key is valid but lacks a permission.
    #[error("the server denied access (status 403): {message}")]
    Forbidden {
        /// The server's explanation, truncated if it is long.
        message: String,
    },
    /// The server does not have the model, or the address is wrong.
    #[error("the server does not have this model or address (status 404): {message}")]
    NotFound {
        /// The server's explanation, truncated if it is long.
        message: String,
    },
    /// The server sends the request elsewhere. Redirects are not followed, because keys and prompts would follow, too.
    #[error("the server redirects to another address (status {status})")]
    Redirected {
        /// HTTP status, 300 to 399.
        status: u16,
    },
    /// The request is longer than the context window. Send a shorter one.
    #[error("the request is too long for the model's context window: {message}")]
    ContextTooLong {
        /// The server's explanation, truncated if it is long.
        message: String,
        /// The size of the context window in tokens, if the server states it.
        limit: Option<u64>,
    },
    /// The model cannot see the images of the request. Send it without them.
    #[error("the model cannot see images: {message}")]
    ImagesRejected {
        /// HTTP status, 400 or more.
        status: u16,
        /// The server's explanation, truncated if it is long.
        message: String,
    },
    /// The provider's filter blocked the request or the answer.
    #[error("the provider's content filter stopped the answer")]
    ContentFilter,
    /// The account has no credit left. Waiting does not help.
    #[error("the account's quota is used up (status {status}): {message}")]
    QuotaExhausted {
        /// HTTP status, 402 or 429.
        status: u16,
        /// The server's explanation, truncated if it is long.
        message: String,
    },
    /// Too many requests were sent. Wait before retrying.
    #[error("the server is limiting requests (status 429): {message}")]
    RateLimited {
        /// The wait that the server asks for.
        retry_after: Option<Duration>,
        /// The server's explanation, truncated if it is long.
        message: String,
    },
    /// An error on the server's side. Retry later.
    #[error("the server failed (status {status}): {message}")]
    Server {
        /// HTTP status, 500 or above.
        status: u16,
        /// The wait that the server asks for.
        retry_after: Option<Duration>,
        /// The server's explanation, truncated if it is long.
        message: String,
    },
    /// The server is still loading the model. Wait for it.
    #[error("the server is still loading the model")]
    Loading,
    /// The request itself is invalid, so a retry does not help.
    #[error("the server rejected the request (status {status}): {message}")]
    BadRequest {
        /// HTTP status that no other variant covers.
        status: u16,
        /// The server's explanation, truncated if it is long.
        message: String,
    },
    /// The stream ended before the answer was complete.
    #[error("the answer was cut off before it was complete")]
    Truncated,
    /// The server sent nothing for too long.
    #[error("the server sent nothing for {:.0} s", .after.as_secs_f64())]
    IdleTimeout {
        /// The time limit that passed.
        after: Duration,
    },
    /// The response does not follow the protocol.
    #[error("the model returned an invalid response: {0}")]
    InvalidResponse(String),
    /// The model cannot be called with the current configuration. The text explains why.
    #[error("{0}")]
    Unavailable(String),
    /// The answer had neither text nor tool calls.
    #[error("the model returned an empty answer")]
    Empty,
}

impl ModelError {
    /// Returns whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::RateLimited { .. }
                | Self::Server { .. }
                | Self::Loading
                | Self::Truncated
        )
    }

    /// Returns the name of the variant, for logs. Unlike the full message, it never quotes the request.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "unreachable",
            Self::Authentication { .. } => "authentication",
            Self::InvalidKey => "invalid key",
            Self::Forbidden { .. } => "forbidden",
            Self::NotFound { .. } => "not found",
            Self::ContextTooLong { .. } => "context too long",
            Self::ImagesRejected { .. } => "images rejected",
            Self::ContentFilter => "content filter",
            Self::QuotaExhausted { .. } => "quota exhausted",
            Self::RateLimited { .. } => "rate limited",
            Self::Server { .. } => "server error",
            Self::Loading => "loading",
            Self::BadRequest { .. } => "bad request",
            Self::Redirected { .. } => "redirect",
            Self::Truncated => "truncated",
            Self::IdleTimeout { .. } => "idle timeout",
            Self::InvalidResponse(_) => "garbled",
            Self::Unavailable(_) => "unavailable",
            Self::Empty => "empty",
        }
    }

    /// Returns the wait that the server asks for.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Server { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
