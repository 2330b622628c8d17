//! Classification of genai's errors.
//!
//! A failure can be an HTTP status before or during the stream, a boxed transport error, an error event in the stream,
//! or a parse error. genai's own messages may contain the whole request, so they are not used. The server's message
//! is, shortened and without the API key.

use std::{error::Error, time::Duration};

use genai::webc;
use memoir_models::ModelError;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::{
    Endpoint, http,
    secret::Secret,
    status::{error_from_status, shorten},
};

/// Converts genai's errors to [`ModelError`]s for one endpoint.
#[derive(Debug, Clone)]
pub(crate) struct ErrorClassifier {
    url: String,
    secret: Secret,
    idle_timeout: Duration,
}

impl ErrorClassifier {
    pub(crate) fn new(endpoint: &Endpoint, idle_timeout: Duration) -> Self {
        Self { url: endpoint.display_url.clone(), secret: endpoint.secret.clone(), idle_timeout }
    }

    /// Returns the [`ModelError`] for a failed call.
    pub(crate) fn classify(&self, error: &genai::Error) -> ModelError {
        match error {
            genai::Error::HttpError { status, body, headers, .. } => {
                self.classify_status(status.as_u16(), body, headers)
            }
            genai::Error::WebModelCall { webc_error, .. }
            | genai::Error::WebAdapterCall { webc_error, .. } => self.classify_call(webc_error),
            genai::Error::WebStream { error, .. } => self.classify_stream(error.as_ref()),
            genai::Error::ChatResponse { body, .. } => {
                from_error_event(&self.secret.redact(&body.to_string()))
            }
            genai::Error::StreamParse { serde_error, .. } => {
                ModelError::InvalidResponse(serde_error.to_string())
            }
            genai::Error::ChatResponseGeneration { cause, .. } => self.invalid_response(cause),
            other => self.invalid_response(&other.to_string()),
        }
    }

    fn invalid_response(&self, text: &str) -> ModelError {
        ModelError::InvalidResponse(shorten(&self.secret.redact(text)))
    }

    fn classify_status(&self, status: u16, body: &str, headers: &HeaderMap) -> ModelError {
        error_from_status(status, &self.secret.redact(body), http::retry_after(headers))
    }

    fn classify_call(&self, error: &webc::Error) -> ModelError {
        match error {
            webc::Error::ResponseFailedStatus { status, body, headers } => {
                self.classify_status(status.as_u16(), body, headers)
            }
            webc::Error::Reqwest(error) => http::transport_error(error, &self.url),
            webc::Error::ResponseFailedNotJson { body, .. }
            | webc::Error::ResponseFailedInvalidJson { body, .. } => self.invalid_response(body),
            webc::Error::JsonValueExt(error) => self.invalid_response(&error.to_string()),
        }
    }

    fn classify_stream(&self, error: &(dyn Error + Send + Sync + 'static)) -> ModelError {
        if let Some(inner) = error.downcast_ref::<genai::Error>() {
            self.classify(inner)
        } else if let Some(transport) = error.downcast_ref::<reqwest::Error>() {
            http::transport_error(transport, &self.url)
        } else if error.downcast_ref::<webc::StreamTimeout>().is_some() {
            ModelError::IdleTimeout { after: self.idle_timeout }
        } else {
            self.invalid_response(&error.to_string())
        }
    }
}

/// Classifies an error event in a stream that started normally.
fn from_error_event(body: &str) -> ModelError {
    let event: Value = serde_json::from_str(body).unwrap_or_default();
    // This is how genai reports a Gemini answer without candidates: the prompt was blocked.
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
    fn error_events_are_classified_by_type_or_code() {
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
