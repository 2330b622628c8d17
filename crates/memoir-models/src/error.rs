//! What can go wrong between Memoir and a model, as decisions a caller can take.

use std::time::Duration;

/// Why a model gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The server cannot be reached. Check the address and the network; trying again may help.
    #[error("cannot reach the model's server at {url}: {reason}")]
    Unreachable {
        /// Where it was looked for.
        url: String,
        /// What the system said.
        reason: String,
    },
    /// The key is wrong. Ask for another.
    #[error("the server refused the key (status {status}): {message}")]
    Authentication {
        /// The HTTP status.
        status: u16,
        /// What the server said.
        message: String,
    },
    /// The key is right but may not do this.
    #[error("the server does not allow this (status 403): {message}")]
    Forbidden {
        /// What the server said.
        message: String,
    },
    /// The server does not know the model, or the address is not that of such a server.
    #[error("the server does not know this model or address (status 404): {message}")]
    NotFound {
        /// What the server said.
        message: String,
    },
    /// More was sent than the model takes. Send less.
    #[error("more was sent than the model takes: {message}")]
    ContextTooLong {
        /// What the server said.
        message: String,
    },
    /// The provider's filter stopped the request or the answer.
    #[error("the provider's content filter stopped the answer")]
    ContentFilter,
    /// What was paid for is used up. Waiting does not help.
    #[error("the account has nothing left to spend (status {status}): {message}")]
    QuotaExhausted {
        /// The HTTP status.
        status: u16,
        /// What the server said.
        message: String,
    },
    /// Too many requests. Wait, then try again.
    #[error("the server asks to slow down (status 429): {message}")]
    RateLimited {
        /// How long the server wants one to wait.
        retry_after: Option<Duration>,
        /// What the server said.
        message: String,
    },
    /// The server has trouble of its own. Try again later.
    #[error("the server failed (status {status}): {message}")]
    Server {
        /// The HTTP status.
        status: u16,
        /// How long the server wants one to wait.
        retry_after: Option<Duration>,
        /// What the server said.
        message: String,
    },
    /// The request itself is refused; sending it again would change nothing.
    #[error("the server refused the request (status {status}): {message}")]
    BadRequest {
        /// The HTTP status.
        status: u16,
        /// What the server said.
        message: String,
    },
    /// The answer was cut off before its end.
    #[error("the answer was cut off before its end")]
    Truncated,
    /// Nothing came for too long.
    #[error("the server fell silent for {:.0} s", .after.as_secs_f64())]
    IdleTimeout {
        /// How long was waited.
        after: Duration,
    },
    /// What came is not what the protocol says.
    #[error("the server sent something that is not an answer: {0}")]
    Garbled(String),
    /// It cannot be called as things are set up. Mend that.
    #[error("{0}")]
    Unavailable(String),
    /// The answer had neither text nor tool calls.
    #[error("the model gave an empty answer")]
    Empty,
}

impl ModelError {
    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::RateLimited { .. } | Self::Server { .. } | Self::Truncated
        )
    }

    /// Returns the name of the variant, for logs: unlike the whole error, it never quotes what was sent.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "unreachable",
            Self::Authentication { .. } => "authentication",
            Self::Forbidden { .. } => "forbidden",
            Self::NotFound { .. } => "not found",
            Self::ContextTooLong { .. } => "context too long",
            Self::ContentFilter => "content filter",
            Self::QuotaExhausted { .. } => "quota exhausted",
            Self::RateLimited { .. } => "rate limited",
            Self::Server { .. } => "server error",
            Self::BadRequest { .. } => "bad request",
            Self::Truncated => "truncated",
            Self::IdleTimeout { .. } => "idle timeout",
            Self::Garbled(_) => "garbled",
            Self::Unavailable(_) => "unavailable",
            Self::Empty => "empty",
        }
    }

    /// How long the server wants one to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Server { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
