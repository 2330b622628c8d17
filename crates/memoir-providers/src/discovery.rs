//! Asks a server with OpenAI's API for the context size of a model. There is no standard for it, so this reads what
//! llama.cpp, vLLM, LM Studio, LiteLLM and gateways report.

use std::time::Duration;

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

/// Returns the context size of a model, if the server reports it.
pub(crate) async fn find_context_size(connection: &Connection, model: &str) -> Option<u64> {
    for list in LISTS {
        // A server that does not know the address returns an error.
        if let Ok(answer) = connection.get_json(list, &bearer(&connection.secret), TIMEOUT).await
            && let Some(size) = read_context_size(&answer, model)
        {
            return Some(size);
        }
    }
    None
}

fn read_context_size(answer: &Value, model: &str) -> Option<u64> {
    let models = answer["data"].as_array()?;
    let is_named =
        |entry: &&Value| NAMES.iter().any(|name| entry.pointer(name).is_some_and(|name| name == model));
    // A server with one model serves it under any name.
    let entry = models.iter().find(is_named).or_else(|| models.first().filter(|_| models.len() == 1))?;
    FIELDS.iter().find_map(|field| entry.pointer(field)?.as_u64()).filter(|size| *size > 0)
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
            assert_eq!(read_context_size(&answer, "m"), expected, "{answer}");
        }
        let single = json!({"data": [{"id": "/models/m.gguf", "meta": {"n_ctx": 512}}]});
        assert_eq!(read_context_size(&single, "m"), Some(512));
        assert_eq!(read_context_size(&json!({"error": "no"}), "m"), None);
    }
}
