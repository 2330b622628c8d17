//! From genai's errors to decisions.
//!
//! A failed call arrives in many shapes: an HTTP status before the stream or inside it, a transport error
//! in a box, an error event in the stream, a parse error. genai's own messages may print the whole request,
//! so none of them is passed on; what the server said is, cut short and without the key.

use std::{error::Error, time::Duration};

use genai::webc;
use memoir_models::ModelError;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::{
    Endpoint, http,
    secret::Secret,
    status::{cut, error_from_status},
};

/// What is needed to tell what a failure of one provider means.
#[derive(Debug, Clone)]
pub(crate) struct Failures {
    url: String,
    secret: Secret,
    idle_timeout: Duration,
}

impl Failures {
    pub(crate) fn new(endpoint: &Endpoint, idle_timeout: Duration) -> Self {
        Self { url: endpoint.shown_url.clone(), secret: endpoint.secret.clone(), idle_timeout }
    }

    /// What a failed call means for the caller.
    pub(crate) fn classify(&self, error: &genai::Error) -> ModelError {
        match error {
            genai::Error::HttpError { status, body, headers, .. } => {
                self.with_status(status.as_u16(), body, headers)
            }
            genai::Error::WebModelCall { webc_error, .. }
            | genai::Error::WebAdapterCall { webc_error, .. } => self.meaning_of_call(webc_error),
            genai::Error::WebStream { error, .. } => self.meaning_of_stream(error.as_ref()),
            genai::Error::ChatResponse { body, .. } => {
                from_error_event(&self.secret.redact(&body.to_string()))
            }
            genai::Error::StreamParse { serde_error, .. } => ModelError::Garbled(serde_error.to_string()),
            genai::Error::ChatResponseGeneration { cause, .. } => self.garbled(cause),
            other => self.garbled(&other.to_string()),
        }
    }

    fn garbled(&self, text: &str) -> ModelError {
        ModelError::Garbled(cut(&self.secret.redact(text)))
    }

    fn with_status(&self, status: u16, body: &str, headers: &HeaderMap) -> ModelError {
        error_from_status(status, &self.secret.redact(body), http::retry_after(headers))
    }

    fn meaning_of_call(&self, error: &webc::Error) -> ModelError {
        match error {
            webc::Error::ResponseFailedStatus { status, body, headers } => {
                self.with_status(status.as_u16(), body, headers)
            }
            webc::Error::Reqwest(error) => http::transport_error(error, &self.url),
            webc::Error::ResponseFailedNotJson { body, .. }
            | webc::Error::ResponseFailedInvalidJson { body, .. } => self.garbled(body),
            webc::Error::JsonValueExt(error) => self.garbled(&error.to_string()),
        }
    }

    fn meaning_of_stream(&self, error: &(dyn Error + Send + Sync + 'static)) -> ModelError {
        if let Some(inner) = error.downcast_ref::<genai::Error>() {
            self.classify(inner)
        } else if let Some(transport) = error.downcast_ref::<reqwest::Error>() {
            http::transport_error(transport, &self.url)
        } else if error.downcast_ref::<webc::StreamTimeout>().is_some() {
            ModelError::IdleTimeout { after: self.idle_timeout }
        } else {
            self.garbled(&error.to_string())
        }
    }
}

/// The server spoke of its failure inside a stream that began well.
fn from_error_event(body: &str) -> ModelError {
    let event: Value = serde_json::from_str(body).unwrap_or_default();
    // genai's word for a Gemini answer without candidates: the prompt was blocked.
    if event.get("finishReason").is_some() {
        return ModelError::ContentFilter;
    }
    let find = |paths: [&str; 4]| paths.into_iter().filter_map(|path| event.pointer(path)).next();
    let kinds = ["/error/type", "/type", "/error/status", "/code"]
        .map(|path| event.pointer(path).and_then(Value::as_str));
    let number = find(["/error/code", "/code", "/status", "/error/status"]).and_then(Value::as_u64);
    let status = match kinds.into_iter().flatten().find(|kind| *kind != "error") {
        Some("overloaded_error") => 529,
        Some("rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED") => 429,
        Some("authentication_error") => 401,
        Some("invalid_request_error") => 400,
        _ => number
            .and_then(|number| u16::try_from(number).ok())
            .filter(|status| (400..600).contains(status))
            .unwrap_or(500),
    };
    error_from_status(status, body, None)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn error_events_mean_what_their_type_says() {
        let overloaded =
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
        assert!(
            matches!(from_error_event(&overloaded.to_string()), ModelError::Server { status: 529, message, .. } if message == "Overloaded")
        );
        let limited = json!({"type": "rate_limit_exceeded", "message": "slow down"});
        assert!(matches!(from_error_event(&limited.to_string()), ModelError::RateLimited { .. }));
        assert_eq!(
            from_error_event(&json!({"finishReason": null, "usageMetadata": null}).to_string()),
            ModelError::ContentFilter
        );
        let numbered = json!({"message": "bad gateway", "code": 502});
        assert!(matches!(from_error_event(&numbered.to_string()), ModelError::Server { status: 502, .. }));
    }
}
