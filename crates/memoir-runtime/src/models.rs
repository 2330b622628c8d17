//! Chooses the models for chat and summaries, and connects to them.

use std::{ops::ControlFlow, sync::Arc, time::Instant};

use memoir_core::TimeZone;
use memoir_models::{Catalog, ChatModel, ModelName, Provider};
use memoir_providers::{
    Endpoint, LOADING_INTERVAL, LocalSearch, LocalServer, MAX_LOADING_TIME, OllamaModel, RemoteModel,
    RetryPolicy, RetryingModel, ServerModels, default_url, find_local_server, is_listening, list_models,
};
use memoir_recall::RecallModel;
use memoir_store::Settings;
use secrecy::SecretString;

use crate::{config::Config, environment::Environment, failure::Failure, settings::ModelTask};

/// Notice for a session without a model.
pub(crate) const HOW_TO_CONNECT: &str = "Answers are quotations from memory, because no API key is set and no local model server was found. Run `memoir doctor` \
     to see how to connect a model.";

/// Default addresses of llama.cpp and LM Studio, which have an OpenAI-compatible API.
const DEFAULT_SERVERS: [&str; 2] = ["http://127.0.0.1:8080/v1", "http://127.0.0.1:1234/v1"];

/// Name of the model on a server that does not list its models. Servers with one model ignore the name.
const UNNAMED_MODEL: &str = "default";

/// Providers that need an API key, in order of preference.
const KEY_PROVIDERS: [Provider; 4] = [Provider::Anthropic, Provider::OpenAi, Provider::Google, Provider::Xai];

/// A model, and why it was chosen.
#[derive(Debug, Clone)]
pub struct ModelChoice {
    /// Provider and name of the model.
    pub name: ModelName,
    /// Why the model was chosen, as a sentence fragment.
    pub reason: String,
    /// Whether no model was named, and none is connected.
    pub is_fallback: bool,
    /// Address of the local server that has the model, if it was searched for.
    base_url: Option<String>,
}

impl ModelChoice {
    /// Creates a choice whose server is not known yet.
    pub fn new(name: ModelName, reason: impl Into<String>) -> Self {
        Self { name, reason: reason.into(), is_fallback: false, base_url: None }
    }
}

/// Chooses models and connects to them, based on the environment, the config and the model catalog.
pub struct Models {
    /// Environment variables, which may contain API keys.
    pub environment: Environment,
    /// User and project config.
    pub config: Config,
    /// Context sizes and prices of models.
    pub catalog: Catalog,
    zone: TimeZone,
    /// Tells the user what takes long.
    report: fn(&str),
}

impl Models {
    /// Combines the built-in catalog with the models of the config. `report` tells the user what takes long.
    pub fn new(
        environment: Environment,
        config: Config,
        zone: TimeZone,
        report: fn(&str),
    ) -> Result<Self, Failure> {
        let mut catalog = Catalog::built_in().map_err(|error| Failure::failed(error.to_string()))?;
        catalog.add(config.models.clone(), config.embeddings.clone());
        Ok(Self { environment, config, catalog, zone, report })
    }

    /// Chooses the chat model. The first source that names one wins: `requested`, `MEMOIR_MODEL`, the project config,
    /// the stored setting, the user config. Otherwise uses a provider with an API key, a local server, or quotes from
    /// memory.
    pub async fn choose(
        &self,
        requested: Option<&str>,
        store: &(impl Settings + ?Sized),
    ) -> Result<ModelChoice, Failure> {
        if let Some(name) = requested {
            return Ok(ModelChoice::new(parse_model_name(name, "")?, "set by --model"));
        }
        if let Some(name) = self.environment.model() {
            return Ok(ModelChoice::new(
                parse_model_name(name, "MEMOIR_MODEL names an ")?,
                "set by MEMOIR_MODEL",
            ));
        }
        if let (Some(name), true) = (&self.config.chat.model, self.config.project_keys.contains("chat.model"))
        {
            let prefix = "the project config names an ";
            return Ok(ModelChoice::new(parse_model_name(name, prefix)?, "set by the project config"));
        }
        if let Some(name) = store.setting(ModelTask::Chat.key()).await? {
            return Ok(ModelChoice::new(parse_model_name(&name, "")?, "set with /models set"));
        }
        if let Some(name) = &self.config.chat.model {
            return Ok(ModelChoice::new(
                parse_model_name(name, "the config names an ")?,
                "set by the config",
            ));
        }
        Ok(self.choose_automatically().await)
    }

    /// Returns the model for summaries, or `None` if none is set.
    pub async fn summarizer(&self, store: &dyn Settings) -> Result<Option<ModelName>, Failure> {
        let stored = store.setting(ModelTask::Summarizer.key()).await?;
        stored
            .or_else(|| self.config.summarizer.model.clone())
            .map(|name| parse_model_name(&name, ""))
            .transpose()
    }

    /// Connects to the model for summaries. If it is not available, adds a notice and returns `None`.
    pub async fn connect_summarizer(
        &self,
        store: &dyn Settings,
        notices: &mut Vec<String>,
    ) -> Result<Option<Arc<dyn ChatModel>>, Failure> {
        let Some(name) = self.summarizer(store).await? else { return Ok(None) };
        if name.provider == Provider::Memoir {
            // This model only quotes messages, as do summaries without a model.
            return Ok(None);
        }
        // Failed jobs are retried by the workers.
        let no_retry = RetryPolicy { max_retries: 0, ..RetryPolicy::default() };
        match self.connect_with(&mut ModelChoice::new(name, "set for summaries"), no_retry).await {
            Ok(model) => Ok(Some(model)),
            Err(failure) => {
                notices.push(format!("Summaries will consist of quotations: {}", failure.sentence()));
                Ok(None)
            }
        }
    }

    /// Chooses a chat model when no setting names one.
    async fn choose_automatically(&self) -> ModelChoice {
        for provider in KEY_PROVIDERS {
            let variables = Environment::key_variables(provider);
            if self.has_key(provider)
                && let Some(default) = self.catalog.default_model(provider)
            {
                return match self.choose_from_gateway(provider, &default).await {
                    Some(choice) => choice,
                    None => ModelChoice::new(default, format!("{} is set", variables.join(" or "))),
                };
            }
        }
        if let Some(LocalServer { model, base_url }) = self.search_local_servers(None).await {
            let display_url = Endpoint::new(model.provider, base_url.clone(), None)
                .map(|endpoint| endpoint.display_url().to_owned());
            let reason = format!("found at {}", display_url.unwrap_or_default());
            return ModelChoice { name: model, reason, is_fallback: false, base_url: Some(base_url) };
        }
        match self.environment.base_url(Provider::OpenAi) {
            // A server that does not list its models usually has only one.
            Some(_) => ModelChoice::new(
                ModelName::new(Provider::OpenAiCompatible, UNNAMED_MODEL),
                "OPENAI_BASE_URL is set",
            ),
            None => ModelChoice {
                is_fallback: true,
                ..ModelChoice::new(ModelName::recall(), "no model is connected")
            },
        }
    }

    /// Chooses a model that a gateway has, if it lists its models and the default is not among them.
    async fn choose_from_gateway(&self, provider: Provider, default: &ModelName) -> Option<ModelChoice> {
        let from_environment = self.environment.base_url(provider);
        let url = from_environment.or_else(|| self.config.base_url(provider))?;
        let key = self.key_for(&ModelChoice::new(default.clone(), ""));
        let endpoint = Endpoint::new(provider, url.to_owned(), key).ok()?;
        if endpoint.is_official(provider) {
            return None;
        }
        let ask = || async {
            match list_models(provider, &endpoint).await {
                ServerModels::Loading => ControlFlow::Continue(endpoint.display_url().to_owned()),
                models => ControlFlow::Break(models),
            }
        };
        let models = self.wait_while_loading(ask).await?;
        let ServerModels::Listed(names) = &models else { return None };
        if names.contains(&default.model) {
            return None;
        }
        let known = names.iter().map(|name| ModelName::new(provider, name));
        let known = known.into_iter().find(|name| self.catalog.model(name).is_some());
        // Few gateways have the Responses API.
        let other = match (provider, from_environment) {
            (Provider::OpenAi, Some(_)) => Provider::OpenAiCompatible,
            _ => provider,
        };
        let name = known.or_else(|| Some(ModelName::new(other, models.first_chat_model()?)))?;
        Some(ModelChoice::new(name, format!("found at {}", endpoint.display_url())))
    }

    /// Searches for a server on this machine that has a model.
    async fn search_local_servers(&self, wanted_model: Option<&str>) -> Option<LocalServer> {
        let candidates = self.local_candidates();
        let search = || async {
            match find_local_server(&candidates, wanted_model).await {
                LocalSearch::Found(server) => ControlFlow::Break(Some(server)),
                LocalSearch::Loading(url) => ControlFlow::Continue(url),
                LocalSearch::NotFound => ControlFlow::Break(None),
            }
        };
        self.wait_while_loading(search).await.flatten()
    }

    /// Repeats a query as long as it continues with the address of a server that is loading its model.
    async fn wait_while_loading<T, F>(&self, query: impl Fn() -> F) -> Option<T>
    where
        F: Future<Output = ControlFlow<T, String>>,
    {
        let mut started = None;
        loop {
            match query().await {
                ControlFlow::Break(result) => return Some(result),
                ControlFlow::Continue(url) => {
                    let started = *started.get_or_insert_with(|| {
                        (self.report)(&format!("Waiting for the server at {url} to load its model."));
                        Instant::now()
                    });
                    if started.elapsed() >= MAX_LOADING_TIME {
                        return None;
                    }
                    tokio::time::sleep(LOADING_INTERVAL).await;
                }
            }
        }
    }

    /// Returns the addresses at which to look for a local server.
    fn local_candidates(&self) -> Vec<(Provider, String)> {
        let compatible = |url: &str| (Provider::OpenAiCompatible, url.to_owned());
        let configured = self.address(Provider::OpenAiCompatible).map(|url| compatible(&url));
        let ollama = self.address(Provider::Ollama).map(|url| (Provider::Ollama, url));
        let others: Vec<_> = match self.environment.local_servers() {
            Some(urls) => urls.into_iter().map(compatible).collect(),
            None => ollama.into_iter().chain(DEFAULT_SERVERS.map(compatible)).collect(),
        };
        configured.into_iter().chain(others).collect()
    }

    /// Returns the addresses of local model servers that accept connections.
    pub async fn list_local_servers(&self) -> Vec<String> {
        let mut urls = Vec::new();
        for (provider, url) in self.local_candidates() {
            let display_url =
                Endpoint::new(provider, url.clone(), None).map(|endpoint| endpoint.display_url().to_owned());
            if let (Ok(display_url), true) = (display_url, is_listening(provider, &url).await) {
                urls.push(display_url);
            }
        }
        urls.dedup();
        urls
    }

    /// Returns the address of a model's server and whether it responds, or `None` for a provider's official address.
    pub async fn probe_server(&self, choice: &mut ModelChoice) -> Option<(String, bool)> {
        let provider = choice.name.provider;
        let endpoint = self.locate_endpoint(choice).await.ok()?;
        let url = choice.base_url.clone().or_else(|| self.address(provider))?;
        if provider == Provider::Memoir
            || default_url(provider) == Some(url.as_str()) && provider != Provider::Ollama
        {
            return None;
        }
        Some((endpoint.display_url().to_owned(), is_listening(provider, &url).await))
    }

    /// Returns whether an API key for a provider is set.
    pub fn has_key(&self, provider: Provider) -> bool {
        self.environment.key(provider).is_some()
    }

    fn address(&self, provider: Provider) -> Option<String> {
        let configured = self.environment.base_url(provider).or_else(|| self.config.base_url(provider));
        configured.or(default_url(provider)).map(str::to_owned)
    }

    /// Connects to a model, with the retry policy of the config.
    ///
    /// # Errors
    ///
    /// Fails if the API key or the address is missing or invalid.
    pub async fn connect(&self, choice: &mut ModelChoice) -> Result<Arc<dyn ChatModel>, Failure> {
        self.connect_with(choice, self.config.retry_policy()).await
    }

    async fn connect_with(
        &self,
        choice: &mut ModelChoice,
        retry: RetryPolicy,
    ) -> Result<Arc<dyn ChatModel>, Failure> {
        if choice.name.provider == Provider::Memoir {
            return Ok(Arc::new(RecallModel::new(self.zone.clone())));
        }
        let endpoint = self.locate_endpoint(choice).await?;
        let name = &choice.name;
        let options = self.config.call_options();
        let info = self.catalog.model(name).cloned();
        if name.provider == Provider::Ollama {
            return Ok(Arc::new(RetryingModel::new(
                OllamaModel::new(name, &endpoint, info, options)?,
                retry,
            )));
        }
        Ok(Arc::new(RetryingModel::new(RemoteModel::new(name, &endpoint, info, options)?, retry)))
    }

    /// Returns the endpoint of a model. Searches for its local server if necessary.
    pub async fn locate_endpoint(&self, choice: &mut ModelChoice) -> Result<Endpoint, Failure> {
        self.find_server(choice).await;
        self.endpoint(choice)
    }

    /// Returns the endpoint of a model for a caller that has a key of its own.
    ///
    /// # Errors
    ///
    /// Fails if the address is missing or invalid.
    pub async fn locate_without_key(&self, choice: &mut ModelChoice) -> Result<Endpoint, Failure> {
        self.find_server(choice).await;
        self.endpoint_with_key(choice, None)
    }

    /// Returns whether the address of a server is configured.
    pub fn has_server(&self, provider: Provider) -> bool {
        self.address(provider).is_some()
    }

    /// Returns the names of the models of the user's own server, if there is one and it lists them.
    pub async fn list_server_models(&self) -> Vec<String> {
        let provider = Provider::OpenAiCompatible;
        let choice = ModelChoice::new(ModelName::new(provider, UNNAMED_MODEL), "");
        if !self.has_server(provider) {
            return Vec::new();
        }
        let Ok(endpoint) = self.endpoint(&choice) else { return Vec::new() };
        match list_models(provider, &endpoint).await {
            ServerModels::Listed(names) => names,
            ServerModels::Loading | ServerModels::Unknown => Vec::new(),
        }
    }

    /// Searches for the local server that has the model, unless its address is configured.
    async fn find_server(&self, choice: &mut ModelChoice) {
        let provider = choice.name.provider;
        if provider == Provider::OpenAiCompatible
            && choice.base_url.is_none()
            && self.address(provider).is_none()
        {
            let server = self.search_local_servers(Some(&choice.name.model)).await;
            choice.base_url =
                server.filter(|server| server.model == choice.name).map(|server| server.base_url);
        }
    }

    /// Returns the API key for a model. The key of a provider is never sent to a server from the config or one that was
    /// found on this machine.
    fn key_for(&self, choice: &ModelChoice) -> Option<SecretString> {
        let provider = choice.name.provider;
        if let Some(variable) = self.config.key_variable(provider) {
            return self.environment.variable(variable).map(SecretString::from);
        }
        let is_other_server = choice.base_url.is_some() || self.environment.base_url(provider).is_none();
        if provider == Provider::OpenAiCompatible && is_other_server {
            None
        } else {
            self.environment.key(provider)
        }
    }

    /// Returns the endpoint of a model. Official providers need an API key; other servers may not.
    fn endpoint(&self, choice: &ModelChoice) -> Result<Endpoint, Failure> {
        let name = &choice.name;
        let key = self.key_for(choice);
        let custom_url =
            self.environment.base_url(name.provider).or_else(|| self.config.base_url(name.provider));
        if key.is_none() && custom_url.is_none() && KEY_PROVIDERS.contains(&name.provider) {
            let variables = Environment::key_variables(name.provider).join(" or ");
            return Err(Failure::failed(format!("{name} needs an API key")).hint(format!(
                "Set {variables}, or choose another model with `memoir models set auto` or `--model memoir/recall`."
            )));
        }
        self.endpoint_with_key(choice, key)
    }

    fn endpoint_with_key(
        &self,
        choice: &ModelChoice,
        key: Option<SecretString>,
    ) -> Result<Endpoint, Failure> {
        let name = &choice.name;
        let Some(base_url) = choice.base_url.clone().or_else(|| self.address(name.provider)) else {
            return Err(Failure::failed(format!("no server with the model {name} was found")).hint(
                "Start the server, or set OPENAI_BASE_URL to its address, such as http://127.0.0.1:8080/v1.",
            ));
        };
        Endpoint::new(name.provider, base_url, key).map_err(|error| {
            let variable =
                self.environment.base_url(name.provider).and(Environment::url_variable(name.provider));
            let source = variable.unwrap_or("base_url in the config");
            Failure::usage(error.to_string())
                .hint(format!("Fix {source}. An address looks like http://127.0.0.1:8080/v1."))
        })
    }
}

/// Parses a model name. `prefix` is put in front of the error message, to name the source of the model.
pub fn parse_model_name(name: &str, prefix: &str) -> Result<ModelName, Failure> {
    name.parse().map_err(|error: memoir_models::UnknownModel| {
        Failure::usage(format!("{prefix}{error}")).hint(
            "Use claude-…, gemini-…, gpt-…, grok-…, ollama/NAME, openai-compatible/NAME (for your own server) or \
             memoir/recall. List known models with `memoir models list`.",
        )
    })
}
