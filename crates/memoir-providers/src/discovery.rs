//! Asks a server with OpenAI's API for the limits of a model. There is no standard for them, so this reads what
//! llama.cpp, vLLM, LM Studio, LiteLLM and gateways report.

use std::time::Duration;

use memoir_models::ModelLimits;
use serde_json::Value;

use crate::{connection::Connection, dialect::bearer};

/// A server answers at once, except perhaps the first time.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Where descriptions of models are, relative to the base URL, which usually ends with `v1/`.
const LISTS: [&str; 3] = ["models", "../api/v0/models", "../model/info"];

/// Fields that may hold the context size, the one that is in effect before the one that is possible.
const FIELDS: [&str; 8] = [
    "/meta/n_ctx",
    "/loaded_context_length",
    "/max_model_len",
    "/context_length",
    "/context_window",
    "/max_context_length",
    "/model_info/max_input_tokens",
    "/max_input_tokens",
];

/// Fields that may hold the name of a model.
const NAMES: [&str; 3] = ["/id", "/model_name", "/model"];

/// Fields that may hold what a model can read or do, as a list of words.
const CAPABILITIES: [&str; 2] = ["/capabilities", "/architecture/input_modalities"];

/// Words for the ability to see images.
const SIGHT: [&str; 3] = ["multimodal", "vision", "image"];

/// Returns the limits of a model, if the server reports at least its context size.
pub(crate) async fn find_limits(connection: &Connection, model: &str) -> Option<ModelLimits> {
    for list in LISTS {
        // A server that does not know the address returns an error.
        if let Ok(answer) = connection.get_json(list, &bearer(&connection.secret), TIMEOUT).await
            && let Some(limits) = read_limits(&answer, model)
        {
            return Some(limits);
        }
    }
    None
}

fn read_limits(answer: &Value, model: &str) -> Option<ModelLimits> {
    let entry = find_entry(&answer["data"], model)?;
    let context = FIELDS.iter().find_map(|field| entry.pointer(field)?.as_u64()).filter(|size| *size > 0)?;
    // llama.cpp describes its models twice, in two lists.
    let images = can_see(entry).or_else(|| can_see(find_entry(&answer["models"], model)?));
    Some(ModelLimits { context: Some(context), images, ..ModelLimits::default() })
}

fn find_entry<'a>(list: &'a Value, model: &str) -> Option<&'a Value> {
    let models = list.as_array()?;
    let is_named =
        |entry: &&Value| NAMES.iter().any(|name| entry.pointer(name).is_some_and(|name| name == model));
    // A server with one model serves it under any name.
    models.iter().find(is_named).or_else(|| models.first().filter(|_| models.len() == 1))
}

/// Returns whether a model can see images, if its description says so.
fn can_see(entry: &Value) -> Option<bool> {
    let is_sight = |word: &Value| SIGHT.iter().any(|sight| word == sight);
    match entry["type"].as_str() {
        Some("vlm") => return Some(true),
        Some("llm") => return Some(false),
        _ => {}
    }
    let words = CAPABILITIES.iter().find_map(|field| entry.pointer(field)?.as_array());
    words.map(|words| words.iter().any(is_sight)).or_else(|| entry["model_info"]["supports_vision"].as_bool())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_server_is_understood() {
        for (entry, expected) in [
            (json!({"id": "m", "meta": {"n_ctx": 2048, "n_ctx_train": 8192}}), Some(2048)),
            (json!({"id": "m", "max_model_len": 32_768}), Some(32_768)),
            (json!({"id": "m", "loaded_context_length": 4096, "max_context_length": 131_072}), Some(4096)),
            (json!({"model_name": "m", "model_info": {"max_input_tokens": 200_000}}), Some(200_000)),
            (json!({"id": "m", "object": "model"}), None),
            (json!({"id": "m", "meta": null, "context_length": 0}), None),
        ] {
            let answer = json!({"data": [{"id": "other", "context_length": 1}, entry]});
            let context = read_limits(&answer, "m").and_then(|limits| limits.context);
            assert_eq!(context, expected, "{answer}");
        }
        let single = json!({"data": [{"id": "/models/m.gguf", "meta": {"n_ctx": 512}}]});
        assert_eq!(read_limits(&single, "m").and_then(|limits| limits.context), Some(512));
        assert_eq!(read_limits(&json!({"error": "no"}), "m"), None);
    }

    #[test]
    fn servers_tell_whether_a_model_sees() {
        let images = |answer: &Value| read_limits(answer, "m").and_then(|limits| limits.images);
        for (entry, expected) in [
            (json!({"type": "vlm"}), Some(true)),
            (json!({"type": "llm"}), Some(false)),
            (json!({"model_info": {"supports_vision": true}}), Some(true)),
            (json!({"architecture": {"input_modalities": ["text", "image"]}}), Some(true)),
            (json!({"architecture": {"input_modalities": ["text"]}}), Some(false)),
            (json!({"model_info": {"supports_vision": null}}), None),
        ] {
            let mut answer = json!({"data": [{"id": "m", "context_length": 8192}]});
            for (field, value) in entry.as_object().into_iter().flatten() {
                answer["data"][0][field] = value.clone();
            }
            assert_eq!(images(&answer), expected, "{answer}");
        }
        for (capabilities, expected) in
            [(json!(["completion"]), Some(false)), (json!(["completion", "multimodal"]), Some(true))]
        {
            let description = json!({"model": "m", "capabilities": capabilities});
            let data = json!({"id": "m", "meta": {"n_ctx": 2048}});
            assert_eq!(images(&json!({"models": [description], "data": [data]})), expected, "llama.cpp");
        }
    }
}
