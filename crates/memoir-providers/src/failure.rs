//! Classification of errors that a server reports in the middle of a reply.

use memoir_models::ModelError;
use serde_json::Value;

use crate::status::error_from_status;

/// Classifies an error event in a stream that started normally.
pub(crate) fn from_error_event(body: &str) -> ModelError {
    let event: Value = serde_json::from_str(body).unwrap_or_default();
    // Gemini may send a list.
    let event = event.get(0).unwrap_or(&event);
    let find = |paths: [&str; 4]| paths.into_iter().filter_map(|path| event.pointer(path)).next();
    let kinds = ["/error/code", "/code", "/error/type", "/type", "/error/status"]
        .map(|path| event.pointer(path).and_then(Value::as_str));
    let number = find(["/error/code", "/code", "/status", "/error/status"]).and_then(Value::as_u64);
    let status = match kinds.into_iter().flatten().find(|kind| *kind != "error") {
        Some("overloaded_error") => 529,
        Some("rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" | "RESOURCE_EXHAUSTED") => 429,
        Some("authentication_error") => 401,
        Some("invalid_request_error" | "invalid_prompt" | "context_length_exceeded") => 400,
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
        let too_long =
            json!({"error": {"code": "context_length_exceeded", "message": "Your input is too long"}});
        assert!(matches!(from_error_event(&too_long.to_string()), ModelError::ContextTooLong { .. }));
        let quota = json!({"type": "error", "code": "insufficient_quota", "message": "You exceeded it"});
        assert!(matches!(from_error_event(&quota.to_string()), ModelError::QuotaExhausted { .. }));
        let numbered = json!({"message": "bad gateway", "code": 502});
        assert!(matches!(from_error_event(&numbered.to_string()), ModelError::Server { status: 502, .. }));
    }
}
