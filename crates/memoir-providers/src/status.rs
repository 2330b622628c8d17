//! Classification of failed HTTP responses as [`ModelError`]s.

use std::time::Duration;

use memoir_models::ModelError;

/// Classifies a failed response by its status and body.
pub(crate) fn error_from_status(status: u16, body: &str, retry_after: Option<Duration>) -> ModelError {
    let message = server_message(body);
    match status {
        300..400 => ModelError::Redirected { status },
        413 => ModelError::ContextTooLong { message, limit: stated_limit(body) },
        400 | 422 if mentions_length(body) => {
            ModelError::ContextTooLong { message, limit: stated_limit(body) }
        }
        // llama.cpp reports this with status 500.
        400.. if mentions_images(body) => ModelError::ImagesRejected { status, message },
        401 => ModelError::Authentication { status, message },
        // Google and xAI report a wrong key with status 400.
        400 if mentions_wrong_key(body) => ModelError::Authentication { status, message },
        402 => ModelError::QuotaExhausted { status, message },
        429 if body.contains("insufficient_quota") => ModelError::QuotaExhausted { status, message },
        403 => ModelError::Forbidden { message },
        404 => ModelError::NotFound { message },
        429 => ModelError::RateLimited { retry_after, message },
        503 if message.to_lowercase().contains("loading model") => ModelError::Loading,
        408 | 500.. => ModelError::Server { status, retry_after, message },
        _ => ModelError::BadRequest { status, message },
    }
}

/// Maximum length of a server's message, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// Returns whether the error body contains a phrase that providers use for a request that is too long.
fn mentions_length(body: &str) -> bool {
    const PHRASES: [&str; 12] = [
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
        "context window",
        "contextwindowexceeded",
    ];
    let body = body.to_lowercase();
    PHRASES.iter().any(|phrase| body.contains(phrase))
}

/// Returns whether an error is about images that the model cannot process.
fn mentions_images(body: &str) -> bool {
    const IMAGES: [&str; 4] = ["image", "vision", "multimodal", "multi-modal"];
    const REFUSALS: [&str; 7] = [
        "not support",
        "unsupported",
        "not a multimodal",
        "not a multi-modal",
        "no endpoints found that support image",
        "cannot process",
        "unknown variant `image_url`",
    ];
    let body = body.to_lowercase();
    // An image in the wrong format does not mean that the model sees nothing.
    let is_about_format =
        ["format", "mime", "media type", "media_type"].iter().any(|word| body.contains(word));
    !is_about_format
        && IMAGES.iter().any(|word| body.contains(word))
        && REFUSALS.iter().any(|phrase| body.contains(phrase))
}

/// Returns the context size that an error body states, in tokens.
fn stated_limit(body: &str) -> Option<u64> {
    const PHRASES: [&str; 7] = [
        "\"n_ctx\":",
        "maximum context length is ",
        "context size (",
        "maximum prompt length is ",
        "tokens allowed (",
        "context limit: ",
        "tokens > ",
    ];
    let body = body.to_lowercase();
    let number_after = |phrase: &&str| {
        let (_, rest) = body.split_once(*phrase)?;
        // After a sum, the limit is on the other side.
        let rest = rest.split(['.', ',', '\n']).next().unwrap_or(rest);
        let rest = rest.rsplit_once('>').map_or(rest, |(_, limit)| limit);
        let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok().filter(|limit| *limit > 0)
    };
    PHRASES.iter().find_map(number_after)
}

fn mentions_wrong_key(body: &str) -> bool {
    let body = body.to_lowercase();
    body.contains("api_key_invalid")
        || (body.contains("api key") && (body.contains("incorrect") || body.contains("invalid")))
}

/// Extracts the readable part of an error body: its `message`, wherever the provider puts it, or the body itself.
pub(crate) fn server_message(body: &str) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_str(body).ok();
    let message = parsed.as_ref().and_then(|value| {
        ["/error/message", "/0/error/message", "/message", "/error", "/detail"]
            .iter()
            .find_map(|pointer| value.pointer(pointer).and_then(serde_json::Value::as_str))
    });
    match message.unwrap_or(body).trim() {
        "" => "no reason given".into(),
        text => shorten(text),
    }
}

/// Collapses `text` into one line of limited length.
pub(crate) fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_extracted_from_every_format() {
        assert_eq!(server_message(r#"{"error":{"message":"no such model"}}"#), "no such model");
        assert_eq!(server_message(r#"[{"error":{"message":"in a list"}}]"#), "in a list");
        assert_eq!(server_message(r#"{"error":"plain"}"#), "plain");
        assert_eq!(server_message("<html>\n  <b>Bad</b>"), "<html> <b>Bad</b>");
        assert_eq!(server_message(""), "no reason given");
        assert_eq!(server_message(&"x".repeat(1000)).chars().count(), MAX_MESSAGE_CHARS + 1);
    }

    #[test]
    fn every_provider_is_recognized_when_a_request_is_too_long() {
        for (body, expected) in [
            (
                r#"{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window"}}"#,
                None,
            ),
            (
                r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
                Some(200_000),
            ),
            (
                r#"{"error":{"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}"#,
                Some(1_048_576),
            ),
            (r#"{"error":"This model's maximum prompt length is 131072"}"#, Some(131_072)),
            (
                r#"{"error":{"message":"input length and `max_tokens` exceed context limit: 199000 + 64000 > 200000"}}"#,
                Some(200_000),
            ),
            (
                r#"{"error":{"message":"litellm.ContextWindowExceededError: This model's maximum context length is 8192 tokens. However, you requested 9000"}}"#,
                Some(8192),
            ),
            (
                r#"{"error":{"code":400,"message":"request (1477 tokens) exceeds the available context size (512 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":1477,"n_ctx":512}}"#,
                Some(512),
            ),
        ] {
            let ModelError::ContextTooLong { limit, .. } = error_from_status(400, body, None) else {
                panic!("{body}")
            };
            assert_eq!(limit, expected, "{body}");
        }
        assert!(matches!(error_from_status(400, "{}", None), ModelError::BadRequest { .. }));
    }

    #[test]
    fn models_that_cannot_see_are_recognized() {
        for (status, body) in [
            (
                500,
                r#"{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}"#,
            ),
            (400, r#"{"error":{"message":"test-model is not a multimodal model"}}"#),
            (404, r#"{"error":{"message":"No endpoints found that support image input"}}"#),
            (
                400,
                r#"{"error":{"message":"Image input modality is not enabled for this model: unsupported content type"}}"#,
            ),
            (422, "Failed to deserialize the JSON body: unknown variant `image_url`, expected `text`"),
        ] {
            let error = error_from_status(status, body, None);
            assert!(matches!(error, ModelError::ImagesRejected { .. }), "{body}: {error:?}");
        }
        assert!(matches!(
            error_from_status(400, "the image is too large", None),
            ModelError::BadRequest { .. }
        ));
    }

    #[test]
    fn used_up_quotas_and_wrong_keys_are_not_transient() {
        let body = r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;
        assert!(matches!(error_from_status(429, body, None), ModelError::QuotaExhausted { .. }));
        let body = r#"{"error":"Incorrect API key provided: xa***. You can obtain one"}"#;
        assert!(matches!(error_from_status(400, body, None), ModelError::Authentication { .. }));
    }
}
