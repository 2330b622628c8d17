//! The list of models that programs can ask for.

use memoir_models::{ModelName, Provider};
use memoir_runtime::models::Models;
use serde_json::{Value, json};

use super::upstream;

/// Returns the models whose provider has a key, those of the user's own server, and `memoir/recall`, as OpenAI's and
/// Anthropic's APIs list them.
pub async fn list_models(models: &Models) -> Value {
    let data: Vec<Value> = available(models).await.into_iter().map(|name| describe(models, name)).collect();
    json!({"object": "list", "data": data, "has_more": false})
}

/// Returns the model with an id of the list.
pub async fn find_model(models: &Models, id: &str) -> Option<Value> {
    let name = upstream::resolve(models, id).ok()?;
    let is_available = available(models).await.contains(&name);
    is_available.then(|| describe(models, name))
}

async fn available(models: &Models) -> Vec<ModelName> {
    let catalog = models.catalog.models().map(|(name, _)| name.clone());
    let mut available: Vec<ModelName> =
        catalog.filter(|name| name.provider != Provider::Memoir && models.has_key(name.provider)).collect();
    let listed = models.list_server_models().await.into_iter();
    available.extend(listed.map(|name| ModelName::new(Provider::OpenAiCompatible, name)));
    available.push(ModelName::recall());
    available
}

fn describe(models: &Models, name: ModelName) -> Value {
    // A prefix is needed only where the name alone does not identify the provider.
    let is_clear = upstream::resolve(models, &name.model).is_ok_and(|resolved| resolved == name);
    let id = if is_clear { name.model.clone() } else { name.to_string() };
    json!({
        "id": id, "object": "model", "type": "model", "display_name": id, "created": 0,
        "created_at": "1970-01-01T00:00:00Z", "owned_by": name.provider.as_str(),
    })
}
