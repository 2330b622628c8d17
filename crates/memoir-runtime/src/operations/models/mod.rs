//! Listing the models of the catalog, and setting the model of a task.

mod report;

use memoir_core::{Timestamp, WorkerKind};
use memoir_models::{ModelName, Provider};
use memoir_store::{Jobs, Settings};
use serde::{Deserialize, Serialize};

use crate::{
    environment::Environment,
    failure::Failure,
    models::{Models, parse_model_name},
    settings::ModelTask,
};

pub use report::{EmbeddingReport, LongPriceReport, ModelReport, ModelsReport, PriceReport};

/// Returns the chat models of the catalog.
pub fn list(models: &Models) -> ModelsReport {
    let report =
        |name: &ModelName| ModelReport::new(name.clone(), &models.catalog, models.has_key(name.provider));
    ModelsReport { models: models.catalog.models().map(|(name, _)| report(name)).collect() }
}

/// Returns the properties of a model. It does not have to be in the catalog.
///
/// # Errors
///
/// Fails if `name` is not a valid model name.
pub fn show(name: &str, models: &Models) -> Result<ModelReport, Failure> {
    let name = parse_model_name(name, "")?;
    let key = models.has_key(name.provider);
    Ok(ModelReport::new(name, &models.catalog, key))
}

/// Request to set the model of a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SetModelRequest {
    /// Task that uses the model.
    pub task: ModelTask,
    /// Name of the model, or `None` for the model from the config or the default.
    pub model: Option<String>,
}

/// Result of setting the model of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetModelReport {
    /// Task that uses the model.
    pub task: ModelTask,
    /// Model that the task now uses.
    pub selection: ModelSelection,
    /// Whether the price is unknown because the catalog does not contain the provider's model.
    pub price_unknown: bool,
    /// Environment variables, one of which must hold an API key to use the model. Empty if no key is missing.
    pub missing_key: &'static [&'static str],
}

/// Model selection of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelSelection {
    /// Use the model from the config, or choose one automatically.
    Automatic,
    /// Use the embedding model that is compiled into Memoir.
    BuiltIn(String),
    /// Use the model with this name, as in `openai/gpt-5`.
    Named(String),
}

/// Sets the model of a task. Jobs that failed with the previous model are retried.
///
/// # Errors
///
/// Fails if the model name is invalid, or if the model does not support the task.
pub async fn set(
    request: &SetModelRequest,
    models: &Models,
    store: &(impl Jobs + Settings + ?Sized),
    now: Timestamp,
) -> Result<SetModelReport, Failure> {
    let task = request.task;
    let mut report =
        SetModelReport { task, selection: ModelSelection::Automatic, price_unknown: false, missing_key: &[] };
    let value = match request.model.as_deref() {
        None => None,
        Some(name) if task == ModelTask::Embedder && name == memoir_embed::NAME => {
            report.selection = ModelSelection::BuiltIn(name.to_owned());
            Some(name.to_owned())
        }
        Some(name) => {
            let model = ModelReport::new(parse_model_name(name, "")?, &models.catalog, false);
            check_supports_task(&model, task)?;
            let is_hosted = !model.provider.is_local() && model.provider != Provider::OpenAiCompatible;
            report.price_unknown = is_hosted && !model.is_in_catalog && model.embedding.is_none();
            if is_hosted && !models.has_key(model.provider) {
                report.missing_key = Environment::key_variables(model.provider);
            }
            report.selection = ModelSelection::Named(model.name.to_string());
            Some(model.name.to_string())
        }
    };
    store.set_setting(task.key(), value.as_deref(), now).await?;
    reset_failures(task, store).await?;
    Ok(report)
}

fn check_supports_task(model: &ModelReport, task: ModelTask) -> Result<(), Failure> {
    let (name, is_embedding_model) = (&model.name, model.embedding.is_some());
    if is_embedding_model && task != ModelTask::Embedder {
        return Err(Failure::usage(format!("{name} is an embedding model, not a chat model"))
            .hint("Run `memoir models list` to see the chat models."));
    }
    if !is_embedding_model && task == ModelTask::Embedder && model.is_in_catalog {
        return Err(Failure::usage(format!("{name} is a chat model, not an embedding model"))
            .hint("Run `memoir models show NAME` to check whether a model is an embedding model."));
    }
    Ok(())
}

async fn reset_failures(task: ModelTask, store: &(impl Jobs + ?Sized)) -> Result<(), Failure> {
    let workers: &[WorkerKind] = match task {
        ModelTask::Chat => &[],
        ModelTask::Summarizer => &[WorkerKind::ExchangeSummarizer, WorkerKind::ConversationSummarizer],
        ModelTask::Embedder => &[WorkerKind::EmbeddingGenerator],
    };
    for worker in workers {
        store.forget_failures(*worker).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_core::TimeZone;
    use memoir_store::Settings as _;

    use super::*;
    use crate::{
        config::Config,
        operations::test_support::{NOW, TestStore, store_with},
    };

    fn models() -> Models {
        let environment = Environment::new([("OPENAI_API_KEY".into(), "k".into())]);
        Models::new(environment, Config::default(), TimeZone::UTC, |_| ()).unwrap()
    }

    async fn set_to(
        name: Option<&str>,
        task: ModelTask,
        store: &TestStore,
    ) -> Result<SetModelReport, Failure> {
        let request = SetModelRequest { task, model: name.map(str::to_owned) };
        set(&request, &models(), store, NOW).await
    }

    #[tokio::test]
    async fn missing_keys_and_prices_are_reported() {
        let (store, _) = store_with(&[]).await;
        let catalog_model = set_to(Some("gpt-5"), ModelTask::Chat, &store).await.unwrap();
        assert_eq!(catalog_model.selection, ModelSelection::Named("openai/gpt-5".into()));
        assert_eq!((catalog_model.price_unknown, catalog_model.missing_key.len()), (false, 0));
        assert_eq!(store.setting("chat.model").await.unwrap().unwrap(), "openai/gpt-5");
        let other_model = set_to(Some("claude-99"), ModelTask::Chat, &store).await.unwrap();
        assert_eq!((other_model.price_unknown, other_model.missing_key), (true, &["ANTHROPIC_API_KEY"][..]));
        let local_model = set_to(Some("ollama/x"), ModelTask::Summarizer, &store).await.unwrap();
        assert_eq!((local_model.price_unknown, local_model.missing_key.len()), (false, 0));
        let automatic = set_to(None, ModelTask::Chat, &store).await.unwrap();
        assert_eq!(automatic.selection, ModelSelection::Automatic);
        assert_eq!(store.setting("chat.model").await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_model_must_support_its_task() {
        let (store, _) = store_with(&[]).await;
        let built_in = set_to(Some(memoir_embed::NAME), ModelTask::Embedder, &store).await.unwrap();
        assert_eq!(built_in.selection, ModelSelection::BuiltIn(memoir_embed::NAME.into()));
        let failure = set_to(Some("gpt-5"), ModelTask::Embedder, &store).await.unwrap_err();
        assert_eq!(failure.message, "openai/gpt-5 is a chat model, not an embedding model");
        let result = set_to(Some("text-embedding-3-small"), ModelTask::Chat, &store).await;
        assert!(result.is_err());
        assert_eq!(store.setting("chat.model").await.unwrap(), None, "nothing was set");
    }

    #[test]
    fn the_serialized_fields_are_stable() {
        let json = serde_json::to_value(show("gpt-5", &models()).unwrap()).unwrap();
        assert_eq!((&json["name"], &json["provider"]), (&"openai/gpt-5".into(), &"openai".into()));
        assert_eq!((&json["key"], &json["known"]), (&true.into(), &true.into()));
        assert!(json["price"]["input"].is_f64() && json["price"]["cache_read"].is_f64());
        assert!(json["long_price"].is_null() && json.get("embedding").is_none());
        assert!(serde_json::to_value(list(&models())).unwrap().is_array());
    }
}
