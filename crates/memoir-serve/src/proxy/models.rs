//! The list of models that programs can ask for.

use memoir_models::{ModelName, Provider};
use memoir_runtime::models::Models;
use serde_json::{Value, json};

/// Returns the models whose provider has a key, and `memoir/recall`, as OpenAI's and Anthropic's APIs list them.
pub fn list_models(models: &Models) -> Value {
    let catalog = models.catalog.models().map(|(name, _)| name.clone());
    let available = catalog.filter(|name| name.provider != Provider::Memoir && models.has_key(name.provider));
    let entry = |name: ModelName| {
        // A prefix is needed only where the name alone does not identify the provider.
        let is_clear = name.model.parse::<ModelName>().is_ok_and(|parsed| parsed == name);
        let id = if is_clear { name.model.clone() } else { name.to_string() };
        json!({
            "id": id, "object": "model", "type": "model", "display_name": id, "created": 0,
            "created_at": "1970-01-01T00:00:00Z", "owned_by": name.provider.as_str(),
        })
    };
    let data: Vec<Value> = available.chain([ModelName::recall()]).map(entry).collect();
    json!({"object": "list", "data": data, "has_more": false})
}
