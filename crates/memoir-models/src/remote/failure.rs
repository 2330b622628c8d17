//! From genai's errors to decisions.
//!
//! A failed call arrives in many shapes: an HTTP status before the stream or inside it, a transport error
//! in a box, an error event in the stream, a parse error. genai's own messages may print the whole request,
//! so none of them is passed on; what the server said is, cut short and without the key.

use std::{error::Error, time::Duration};

use genai::webc;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::{
    Endpoint, ModelError,
    error::{cut, server_message},
    http,
};

/// What is needed to tell what a failure of one provider means.
#[derive(Debug, Clone)]
pub(crate) struct Failures {
    url: String,
    key: Option<SecretString>,
    idle_timeout: Duration,
}

impl Failures {
    pub(crate) fn new(endpoint: &Endpoint, idle_timeout: Duration) -> Self {
        Self { url: endpoint.shown_url.clone(), key: endpoint.key.clone(), idle_timeout }
    }

    /// What a failed call means for the caller.
    pub(crate) fn classify(&self, error: &genai::Error) -> ModelError {
        let secret = self.key.as_ref().map(SecretString::expose_secret).unwrap_or_default();
        self.meaning(error).without(secret)
    }

    fn meaning(&self, error: &genai::Error) -> ModelError {
        match error {
            genai::Error::HttpError { status, body, headers, .. } => {
                ModelError::from_status(status.as_u16(), body, http::retry_after(headers))
            }
            genai::Error::WebModelCall { webc_error, .. }
            | genai::Error::WebAdapterCall { webc_error, .. } => self.meaning_of_call(webc_error),
            genai::Error::WebStream { error, .. } => self.meaning_of_stream(error.as_ref()),
            genai::Error::ChatResponse { body, .. } => from_error_event(body),
            genai::Error::StreamParse { serde_error, .. } => ModelError::Garbled(serde_error.to_string()),
            genai::Error::ChatResponseGeneration { cause, .. } => ModelError::Garbled(cut(cause)),
            other => ModelError::Garbled(cut(&other.to_string())),
        }
    }

    fn meaning_of_call(&self, error: &webc::Error) -> ModelError {
        match error {
            webc::Error::ResponseFailedStatus { status, body, headers } => {
                ModelError::from_status(status.as_u16(), body, http::retry_after(headers))
            }
            webc::Error::Reqwest(error) => http::transport_error(error, &self.url),
            webc::Error::ResponseFailedNotJson { body, .. }
            | webc::Error::ResponseFailedInvalidJson { body, .. } => ModelError::Garbled(cut(body)),
            webc::Error::JsonValueExt(error) => ModelError::Garbled(cut(&error.to_string())),
        }
    }

    fn meaning_of_stream(&self, error: &(dyn Error + Send + Sync + 'static)) -> ModelError {
        if let Some(inner) = error.downcast_ref::<genai::Error>() {
            self.meaning(inner)
        } else if let Some(transport) = error.downcast_ref::<reqwest::Error>() {
            http::transport_error(transport, &self.url)
        } else if error.downcast_ref::<webc::StreamTimeout>().is_some() {
            ModelError::IdleTimeout { after: self.idle_timeout }
        } else {
            ModelError::Garbled(cut(&error.to_string()))
        }
    }
}

/// The server spoke of its failure inside a stream that began well.
fn from_error_event(body: &Value) -> ModelError {
    // genai's word for a Gemini answer without candidates: the prompt was blocked.
    if body.get("finishReason").is_some() {
        return ModelError::ContentFilter;
    }
    let kind = ["/error/type", "/type", "/error/status", "/code"]
        .iter()
        .find_map(|path| body.pointer(path)?.as_str());
    let status = match kind {
        Some("overloaded_error") => 529,
        Some("rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED") => 429,
        Some("authentication_error") => 401,
        Some("invalid_request_error") => 400,
        _ => 500,
    };
    match ModelError::from_status(status, &body.to_string(), None) {
        // In a stream the error stands without its envelope.
        ModelError::Server { status, retry_after, .. } => {
            ModelError::Server { status, retry_after, message: server_message(&body.to_string()) }
        }
        other => other,
    }
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
            matches!(from_error_event(&overloaded), ModelError::Server { status: 529, message, .. } if message == "Overloaded")
        );
        let limited = json!({"type": "rate_limit_exceeded", "message": "slow down"});
        assert!(matches!(from_error_event(&limited), ModelError::RateLimited { .. }));
        assert_eq!(
            from_error_event(&json!({"finishReason": null, "usageMetadata": null})),
            ModelError::ContentFilter
        );
    }
}
