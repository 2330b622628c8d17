//! Answers to requests other than chat: model lists, model details and embeddings.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

use super::RecordedRequest;

/// Number of dimensions of the provider's embeddings.
pub const EMBEDDING_DIMENSIONS: usize = 8;

/// Context size that `/api/show` reports.
const CONTEXT_LENGTH: u64 = 16_384;

/// A model that `/api/show` does not describe.
const UNDESCRIBED: &str = "undescribed";

/// Answers a request that is not a chat request. `models` are listed instead of the usual ones.
pub(super) fn answer(request: &RecordedRequest, models: Option<&[String]>) -> Response {
    let body = &request.body;
    let answer = match request.path.as_str() {
        path if path.ends_with("/api/tags") => {
            json!({"models": [{"name": "test-embed"}, {"name": "test-model"}]})
        }
        path if path.ends_with("/api/show") && body["model"] == UNDESCRIBED => {
            return (StatusCode::NOT_FOUND, "404 page not found").into_response();
        }
        path if path.ends_with("/api/show") => {
            let model = body["model"].as_str().unwrap_or_default();
            let thinking = model.starts_with("gpt-oss").then_some("thinking");
            let vision = model.ends_with("vision").then_some("vision");
            let capabilities: Vec<&str> =
                ["completion", "tools"].into_iter().chain(thinking).chain(vision).collect();
            json!({"model_info": {"test.context_length": CONTEXT_LENGTH}, "capabilities": capabilities})
        }
        path if path.ends_with("/v1beta/models") => json!({"models": [{"name": "models/gemini-3.8-flash"}]}),
        path if path.ends_with("/models") && models.is_some() => {
            let names = models.unwrap_or_default();
            json!({"data": names.iter().map(|name| json!({"id": name})).collect::<Vec<_>>()})
        }
        path if path.ends_with("/models") => {
            json!({"data": [{"id": "test-embedding"}, {"id": "test-model"}, {"id": "small-model", "meta": {"n_ctx": 2048}},
                {"id": "claude-sonnet-5-5"}, {"id": "gpt-5.6-luna"}, {"id": "grok-4.3"}]})
        }
        path if path.ends_with("/messages/count_tokens") => {
            json!({"input_tokens": body["messages"].to_string().len()})
        }
        path if path.ends_with("/embeddings") => {
            let inputs = body["input"].as_array().cloned().unwrap_or_default();
            // The order is reversed on purpose: clients must use the index.
            let data: Vec<Value> = inputs
                .iter()
                .enumerate()
                .rev()
                .map(|(index, text)| json!({"index": index, "embedding": embed(text)}))
                .collect();
            json!({"model": body["model"], "data": data, "usage": {"prompt_tokens": 7 * inputs.len(), "total_tokens": 7 * inputs.len()}})
        }
        path if path.ends_with(":batchEmbedContents") => {
            let requests = body["requests"].as_array().cloned().unwrap_or_default();
            let values = |request: &Value| json!({"values": embed(&request["content"]["parts"][0]["text"])});
            json!({"embeddings": requests.iter().map(values).collect::<Vec<_>>()})
        }
        _ => return (StatusCode::NOT_FOUND, "there is nothing here").into_response(),
    };
    Json(answer).into_response()
}

/// Returns an embedding from which the text can be recognized: its length, followed by its first bytes.
fn embed(text: &Value) -> Vec<f32> {
    let text = text.as_str().unwrap_or_default();
    let bytes = text.bytes().map(f32::from).chain(std::iter::repeat(0.0));
    let length = f32::from(u16::try_from(text.len()).unwrap_or(u16::MAX));
    std::iter::once(length).chain(bytes).take(EMBEDDING_DIMENSIONS).collect()
}
