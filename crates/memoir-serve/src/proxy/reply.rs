//! Replies that Memoir writes itself, as the program's API writes them.

use futures::StreamExt as _;
use http::{HeaderValue, Response, StatusCode, header};
use memoir_providers::ClientApi;
use serde_json::{Value, json};

use super::ReplyBody;

/// Returns an error as a program's API writes it.
pub fn error_reply(api: ClientApi, status: StatusCode, message: &str) -> Response<ReplyBody> {
    let kind = match status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::FORBIDDEN => "permission_error",
        StatusCode::NOT_FOUND => "not_found_error",
        StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
        StatusCode::SERVICE_UNAVAILABLE => "overloaded_error",
        status if status.is_server_error() => "api_error",
        _ => "invalid_request_error",
    };
    let body = match api {
        ClientApi::Messages | ClientApi::TokenCount => {
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        ClientApi::Chat | ClientApi::Responses | ClientApi::Embeddings => {
            json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
        }
    };
    let mut reply = json_reply(&body);
    *reply.status_mut() = status;
    reply
}

/// Returns a reply in JSON.
pub(super) fn json_reply(body: &Value) -> Response<ReplyBody> {
    text_reply("application/json", body.to_string())
}

/// Returns a reply that consists of events, all of which are known.
pub(super) fn event_reply(events: &[(Option<&str>, String)]) -> Response<ReplyBody> {
    let event = |(name, data): &(Option<&str>, String)| match name {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    };
    text_reply("text/event-stream", events.iter().map(event).collect())
}

fn text_reply(kind: &'static str, text: String) -> Response<ReplyBody> {
    let mut response = Response::new(futures::stream::iter([Ok(text.into())]).boxed());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
