//! What a provider answers besides chat: lists of models, what a model is, embeddings.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

use super::RecordedRequest;

/// The length of the vectors that are given out.
pub const EMBEDDING_DIMENSIONS: usize = 8;

/// The context of the model that `/api/show` tells of.
const CONTEXT_LENGTH: u64 = 16_384;

/// The answer to a request that is not for chat.
pub(super) fn answer(request: &RecordedRequest) -> Response {
    let body = &request.body;
    let answer = match request.path.as_str() {
        path if path.ends_with("/api/tags") => {
            json!({"models": [{"name": "test-embed"}, {"name": "test-model"}]})
        }
        path if path.ends_with("/api/show") => json!({"model_info": {"test.context_length": CONTEXT_LENGTH}}),
        path if path.ends_with("/models") => {
            json!({"data": [{"id": "test-embedding"}, {"id": "test-model"}]})
        }
        path if path.ends_with("/embeddings") => {
            let inputs = body["input"].as_array().cloned().unwrap_or_default();
            // Given out backwards: the order is in the index.
            let data: Vec<Value> = inputs
                .iter()
                .enumerate()
                .rev()
                .map(|(index, text)| json!({"index": index, "embedding": vector(text)}))
                .collect();
            json!({"model": body["model"], "data": data, "usage": {"prompt_tokens": 7 * inputs.len(), "total_tokens": 7 * inputs.len()}})
        }
        path if path.ends_with(":batchEmbedContents") => {
            let requests = body["requests"].as_array().cloned().unwrap_or_default();
            let values = |request: &Value| json!({"values": vector(&request["content"]["parts"][0]["text"])});
            json!({"embeddings": requests.iter().map(values).collect::<Vec<_>>()})
        }
        _ => return (StatusCode::NOT_FOUND, "there is nothing here").into_response(),
    };
    Json(answer).into_response()
}

/// A vector that tells its text: its length first, then its first bytes.
fn vector(text: &Value) -> Vec<f32> {
    let text = text.as_str().unwrap_or_default();
    let bytes = text.bytes().map(f32::from).chain(std::iter::repeat(0.0));
    let length = f32::from(u16::try_from(text.len()).unwrap_or(u16::MAX));
    std::iter::once(length).chain(bytes).take(EMBEDDING_DIMENSIONS).collect()
}
