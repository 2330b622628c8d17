//! The models that are known, and which of them is used for what.

mod report;

use memoir_core::{Timestamp, WorkerKind};
use memoir_models::{ModelName, Provider};
use memoir_store::{Jobs, Settings};
use serde::{Deserialize, Serialize};

use crate::{
    environment::Environment,
    failure::Failure,
    models::{Models, parse},
    settings::ModelTask,
};

pub use report::{EmbeddingReport, LongPriceReport, ModelReport, ModelsReport, PriceReport};

/// Lists the chat models of the catalogue.
pub fn list(models: &Models) -> ModelsReport {
    let report =
        |name: &ModelName| ModelReport::new(name.clone(), &models.catalogue, models.has_key(name.provider));
    ModelsReport { models: models.catalogue.models().map(|(name, _)| report(name)).collect() }
}

/// Returns what is known of one model, whether the catalogue has it or not.
///
/// # Errors
///
/// Fails if the name is not that of a model.
pub fn show(name: &str, models: &Models) -> Result<ModelReport, Failure> {
    let name = parse(name, "")?;
    let key = models.has_key(name.provider);
    Ok(ModelReport::new(name, &models.catalogue, key))
}

/// A model to use from now on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SetModelRequest {
    /// What it is used for.
    pub task: ModelTask,
    /// Its name; `None` for the one that the configuration names, or the default.
    pub model: Option<String>,
}

/// The result of setting a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetModelReport {
    /// What it is used for.
    pub task: ModelTask,
    /// The model.
    pub selection: ModelSelection,
    /// Whether the price of a provider's model is unknown because the catalogue does not have it.
    pub price_unknown: bool,
    /// Environment variables one of which must hold a key before the model can be called; empty if nothing is missing.
    pub missing_key: &'static [&'static str],
}

/// How the model of a task is chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelSelection {
    /// By the configuration, or automatically.
    Automatic,
    /// It is the one that is compiled into Memoir.
    BuiltIn(String),
    /// It is this one.
    Named(String),
}

/// Sets the model that a task uses from now on. Work that failed with the previous model is tried again.
///
/// # Errors
///
/// Fails if the name is not that of a model, or if the model cannot do the task.
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
            let model = ModelReport::new(parse(name, "")?, &models.catalogue, false);
            check_task(&model, task)?;
            let is_provided = !model.provider.is_local() && model.provider != Provider::OpenAiCompatible;
            report.price_unknown = is_provided && !model.known && model.embedding.is_none();
            if is_provided && !models.has_key(model.provider) {
                report.missing_key = Environment::key_variables(model.provider);
            }
            report.selection = ModelSelection::Named(model.name.to_string());
            Some(model.name.to_string())
        }
    };
    store.set_setting(task.key(), value.as_deref(), now).await?;
    forget_failures(task, store).await?;
    Ok(report)
}

fn check_task(model: &ModelReport, task: ModelTask) -> Result<(), Failure> {
    let (name, embeds) = (&model.name, model.embedding.is_some());
    if embeds && task != ModelTask::Embedder {
        return Err(Failure::usage(format!("{name} makes embeddings and cannot talk"))
            .hint("memoir models list shows those that can."));
    }
    if !embeds && task == ModelTask::Embedder && model.known {
        return Err(Failure::usage(format!("{name} talks and makes no embeddings"))
            .hint("memoir models list shows those that do."));
    }
    Ok(())
}

/// Lets jobs that failed with one model be tried with another.
async fn forget_failures(task: ModelTask, store: &(impl Jobs + ?Sized)) -> Result<(), Failure> {
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
        Models::new(environment, Config::default(), TimeZone::UTC).unwrap()
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
    async fn what_is_missing_is_reported() {
        let (store, _) = store_with(&[]).await;
        let known = set_to(Some("gpt-5"), ModelTask::Chat, &store).await.unwrap();
        assert_eq!(known.selection, ModelSelection::Named("openai/gpt-5".into()));
        assert_eq!((known.price_unknown, known.missing_key.len()), (false, 0));
        assert_eq!(store.setting("chat.model").await.unwrap().unwrap(), "openai/gpt-5");
        let unknown = set_to(Some("claude-99"), ModelTask::Chat, &store).await.unwrap();
        assert_eq!((unknown.price_unknown, unknown.missing_key), (true, &["ANTHROPIC_API_KEY"][..]));
        let local = set_to(Some("ollama/x"), ModelTask::Summarizer, &store).await.unwrap();
        assert_eq!((local.price_unknown, local.missing_key.len()), (false, 0));
        let automatic = set_to(None, ModelTask::Chat, &store).await.unwrap();
        assert_eq!(automatic.selection, ModelSelection::Automatic);
        assert_eq!(store.setting("chat.model").await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_model_must_be_able_to_do_its_task() {
        let (store, _) = store_with(&[]).await;
        let built_in = set_to(Some(memoir_embed::NAME), ModelTask::Embedder, &store).await.unwrap();
        assert_eq!(built_in.selection, ModelSelection::BuiltIn(memoir_embed::NAME.into()));
        let failure = set_to(Some("gpt-5"), ModelTask::Embedder, &store).await.unwrap_err();
        assert_eq!(failure.message, "openai/gpt-5 talks and makes no embeddings");
        let failure = set_to(Some("text-embedding-3-small"), ModelTask::Chat, &store).await;
        assert!(failure.is_err());
        assert_eq!(store.setting("chat.model").await.unwrap(), None, "nothing was set");
    }

    #[test]
    fn a_report_has_the_fields_that_scripts_know() {
        let form = serde_json::to_value(show("gpt-5", &models()).unwrap()).unwrap();
        assert_eq!((&form["name"], &form["provider"]), (&"openai/gpt-5".into(), &"openai".into()));
        assert_eq!((&form["key"], &form["known"]), (&true.into(), &true.into()));
        assert!(form["price"]["input"].is_f64() && form["price"]["cache_read"].is_f64());
        assert!(form["long_price"].is_null() && form.get("embedding").is_none());
        assert!(serde_json::to_value(list(&models())).unwrap().is_array());
    }
}
