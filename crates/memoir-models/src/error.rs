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

    /// How long the server wants one to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Server { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// What a failed HTTP status means, with what the server said in `body`.
    pub(crate) fn from_status(status: u16, body: &str, retry_after: Option<Duration>) -> Self {
        let message = server_message(body);
        match status {
            413 => Self::ContextTooLong { message },
            400 | 422 if speaks_of_length(body) => Self::ContextTooLong { message },
            401 => Self::Authentication { status, message },
            // Google and xAI answer a wrong key with 400.
            400 if speaks_of_a_wrong_key(body) => Self::Authentication { status, message },
            402 => Self::QuotaExhausted { status, message },
            429 if body.contains("insufficient_quota") => Self::QuotaExhausted { status, message },
            403 => Self::Forbidden { message },
            404 => Self::NotFound { message },
            429 => Self::RateLimited { retry_after, message },
            500 | 502 | 503 | 504 | 529 => Self::Server { status, retry_after, message },
            _ => Self::BadRequest { status, message },
        }
    }
}

/// What the server said is shown up to here.
const LONGEST_MESSAGE: usize = 300;

/// The ways in which providers say that a request is too long.
fn speaks_of_length(body: &str) -> bool {
    const PHRASES: [&str; 10] = [
        "context_length_exceeded",
        "maximum context length",
        "context length",
        "prompt is too long",
        "exceeds the maximum number of tokens",
        "maximum prompt length",
        "request_too_large",
        "exceed_context_size",
        "exceed context limit",
        "too many tokens",
    ];
    let body = body.to_lowercase();
    PHRASES.iter().any(|phrase| body.contains(phrase))
}

fn speaks_of_a_wrong_key(body: &str) -> bool {
    let body = body.to_lowercase();
    body.contains("api_key_invalid")
        || (body.contains("api key") && (body.contains("incorrect") || body.contains("invalid")))
}

/// The human part of an error body: the `message` that every dialect has somewhere, or the body itself.
pub(crate) fn server_message(body: &str) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_str(body).ok();
    let message = parsed.as_ref().and_then(|value| {
        ["/error/message", "/0/error/message", "/message", "/error", "/detail"]
            .iter()
            .find_map(|pointer| value.pointer(pointer).and_then(serde_json::Value::as_str))
    });
    match message.unwrap_or(body).trim() {
        "" => "no reason given".into(),
        text => cut(text),
    }
}

/// One line, cut to what a person reads.
pub(crate) fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_dug_out_of_each_shape() {
        assert_eq!(server_message(r#"{"error":{"message":"no such model"}}"#), "no such model");
        assert_eq!(server_message(r#"[{"error":{"message":"in a list"}}]"#), "in a list");
        assert_eq!(server_message(r#"{"error":"plain"}"#), "plain");
        assert_eq!(server_message("<html>\n  <b>Bad</b>"), "<html> <b>Bad</b>");
        assert_eq!(server_message(""), "no reason given");
        assert_eq!(server_message(&"x".repeat(1000)).chars().count(), LONGEST_MESSAGE + 1);
    }

    #[test]
    fn a_request_that_is_too_long_is_known_in_each_dialect() {
        for body in [
            r#"{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window"}}"#,
            r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            r#"{"error":{"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}"#,
            r#"{"error":"This model's maximum prompt length is 131072"}"#,
            r#"{"error":{"message":"input length and `max_tokens` exceed context limit: 199000 + 64000 > 200000"}}"#,
        ] {
            assert!(
                matches!(ModelError::from_status(400, body, None), ModelError::ContextTooLong { .. }),
                "{body}"
            );
        }
        assert!(matches!(ModelError::from_status(400, "{}", None), ModelError::BadRequest { .. }));
    }

    #[test]
    fn no_money_and_no_key_are_not_a_matter_of_waiting() {
        let body = r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;
        assert!(matches!(ModelError::from_status(429, body, None), ModelError::QuotaExhausted { .. }));
        let body = r#"{"error":"Incorrect API key provided: xa***. You can obtain one"}"#;
        assert!(matches!(ModelError::from_status(400, body, None), ModelError::Authentication { .. }));
    }
}
