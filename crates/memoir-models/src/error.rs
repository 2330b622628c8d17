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
    /// The key is wrong, or may not do this. Ask for another.
    #[error("the server refused the key (status {status}): {message}")]
    Authentication {
        /// The HTTP status.
        status: u16,
        /// What the server said.
        message: String,
    },
    /// The server does not know the model, or the address is not that of such a server.
    #[error("the server does not know this model or address (status 404): {message}")]
    NotFound {
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
    #[error("the server fell silent for {} s", .after.as_secs())]
    IdleTimeout {
        /// How long was waited.
        after: Duration,
    },
    /// What came is not what the protocol says.
    #[error("the server sent something that is not an answer: {0}")]
    Garbled(String),
    /// The answer had neither text nor tool calls.
    #[error("the model gave an empty answer")]
    Empty,
    /// Memory could not be read, for the model that answers from it.
    #[error("memory could not be read: {0}")]
    Memory(String),
}
