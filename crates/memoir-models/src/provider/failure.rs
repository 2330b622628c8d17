//! From genai's errors to decisions.
//!
//! A failed call arrives in many shapes: an HTTP status before the stream or inside it, a transport error
//! in a box, an error event in the stream, a parse error. genai's own messages may print the whole request,
//! so none of them is passed on; what the server said is, cut short.

use std::{error::Error, time::Duration};

use genai::webc;
use serde_json::Value;

use crate::ModelError;

/// What the server said is shown up to here.
const LONGEST_MESSAGE: usize = 300;

/// What a failed call means for the caller.
pub(super) fn classify(error: &genai::Error, url: &str, idle: Duration) -> ModelError {
    match error {
        genai::Error::HttpError {
            status,
            body,
            headers,
            ..
        } => from_status(status.as_u16(), body, retry_after(headers)),
        genai::Error::WebModelCall { webc_error, .. } | genai::Error::WebAdapterCall { webc_error, .. } => {
            from_web(webc_error, url)
        }
        genai::Error::WebStream { error, .. } => from_stream(error.as_ref(), url, idle),
        // The server spoke of its failure inside a stream that began well.
        genai::Error::ChatResponse { body, .. } => ModelError::Server {
            status: 200,
            retry_after: None,
            message: server_message(&body.to_string()),
        },
        genai::Error::StreamParse { serde_error, .. } => ModelError::Garbled(serde_error.to_string()),
        genai::Error::ChatResponseGeneration { cause, .. } => ModelError::Garbled(cut(cause)),
        other => ModelError::Garbled(cut(&other.to_string())),
    }
}

fn from_web(error: &webc::Error, url: &str) -> ModelError {
    match error {
        webc::Error::ResponseFailedStatus {
            status,
            body,
            headers,
        } => from_status(status.as_u16(), body, retry_after(headers)),
        webc::Error::Reqwest(error) => from_transport(error, url),
        webc::Error::ResponseFailedNotJson { body, .. }
        | webc::Error::ResponseFailedInvalidJson { body, .. } => ModelError::Garbled(cut(body)),
        webc::Error::JsonValueExt(error) => ModelError::Garbled(cut(&error.to_string())),
    }
}

fn from_stream(error: &(dyn Error + Send + Sync + 'static), url: &str, idle: Duration) -> ModelError {
    if let Some(inner) = error.downcast_ref::<genai::Error>() {
        classify(inner, url, idle)
    } else if let Some(transport) = error.downcast_ref::<reqwest::Error>() {
        from_transport(transport, url)
    } else if error.downcast_ref::<webc::StreamTimeout>().is_some() {
        ModelError::IdleTimeout { after: idle }
    } else {
        ModelError::Garbled(cut(&error.to_string()))
    }
}

fn from_transport(error: &reqwest::Error, url: &str) -> ModelError {
    // A connection that breaks while the body comes is a cut, not an unreachable server.
    if error.is_body() || error.is_decode() {
        return ModelError::Truncated;
    }
    let mut reason: &dyn Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    ModelError::Unreachable {
        url: url.to_owned(),
        reason: cut(&reason.to_string()),
    }
}

fn from_status(status: u16, body: &str, retry_after: Option<Duration>) -> ModelError {
    let message = server_message(body);
    match status {
        401 | 403 => ModelError::Authentication { status, message },
        404 => ModelError::NotFound { message },
        429 => ModelError::RateLimited { retry_after, message },
        500..=599 => ModelError::Server {
            status,
            retry_after,
            message,
        },
        _ => ModelError::BadRequest { status, message },
    }
}

/// Seconds in `Retry-After`; dates there are rare, and waiting by our own clock is no worse.
fn retry_after(headers: &reqwest::header::HeaderMap) -> Option<Duration> {
    let value = headers.get(reqwest::header::RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

/// The human part of an error body: the `message` that every dialect has somewhere, or the body itself.
fn server_message(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let message = parsed.as_ref().and_then(|value| {
        ["/error/message", "/message", "/error", "/detail"]
            .iter()
            .find_map(|pointer| value.pointer(pointer).and_then(Value::as_str))
    });
    match message.unwrap_or(body).trim() {
        "" => "no reason given".into(),
        text => cut(text),
    }
}

fn cut(text: &str) -> String {
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
        assert_eq!(
            server_message(r#"{"error":{"message":"no such model"}}"#),
            "no such model"
        );
        assert_eq!(server_message(r#"{"error":"plain"}"#), "plain");
        assert_eq!(server_message("<html>\n  <b>Bad</b>"), "<html> <b>Bad</b>");
        assert_eq!(server_message(""), "no reason given");
        assert_eq!(
            server_message(&"x".repeat(1000)).chars().count(),
            LONGEST_MESSAGE + 1
        );
    }

    #[test]
    fn a_status_tells_what_to_do() {
        assert!(matches!(
            from_status(401, "", None),
            ModelError::Authentication { status: 401, .. }
        ));
        assert!(matches!(
            from_status(529, "", None),
            ModelError::Server { status: 529, .. }
        ));
        assert!(matches!(
            from_status(400, "", None),
            ModelError::BadRequest { status: 400, .. }
        ));
        let wait = Some(Duration::from_secs(7));
        assert!(
            matches!(from_status(429, "", wait), ModelError::RateLimited { retry_after, .. } if retry_after == wait)
        );
    }
}
