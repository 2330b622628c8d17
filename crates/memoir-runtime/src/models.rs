//! Which model answers, and why; and making it ready to be called.

use std::sync::Arc;

use memoir_core::TimeZone;
use memoir_models::{Catalogue, ChatModel, ModelName, Provider};
use memoir_providers::{
    Endpoint, LocalServer, OllamaModel, RemoteModel, RetryPolicy, Retrying, default_url, find_local_server,
    listens,
};
use memoir_recall::RecallModel;
use memoir_store::Settings;
use secrecy::SecretString;

use crate::{config::Config, environment::Environment, failure::Failure, settings::ModelTask};

/// The last line of every answer from memory alone.
const HOW_TO_CONNECT: &str = "Answered from memory alone. To connect a model, set ANTHROPIC_API_KEY, OPENAI_API_KEY, \
                              GEMINI_API_KEY or XAI_API_KEY, or start Ollama.";

/// Where the usual local servers listen: llama.cpp and LM Studio, which speak OpenAI's protocol.
const USUAL_SERVERS: [&str; 2] = ["http://127.0.0.1:8080/v1", "http://127.0.0.1:1234/v1"];

/// Whose key is looked for, in this order.
const WITH_KEYS: [Provider; 4] = [Provider::Anthropic, Provider::OpenAi, Provider::Google, Provider::Xai];

/// A model and why it is this one.
#[derive(Debug, Clone)]
pub struct ModelChoice {
    /// The model.
    pub name: ModelName,
    /// Why it was chosen, as half a sentence.
    pub reason: String,
    /// Where it was found, if it was looked for.
    base_url: Option<String>,
}

impl ModelChoice {
    /// A model whose server is not known yet.
    pub fn new(name: ModelName, reason: impl Into<String>) -> Self {
        Self { name, reason: reason.into(), base_url: None }
    }
}

/// What is known of models, providers and keys.
pub struct Models {
    /// The process that Memoir runs in.
    pub environment: Environment,
    /// The configuration files.
    pub config: Config,
    /// What is known of each model.
    pub catalogue: Catalogue,
    zone: TimeZone,
}

impl Models {
    /// Combines the compiled-in catalogue with the models of the config.
    ///
    /// # Errors
    ///
    /// Fails if the compiled-in catalogue cannot be read.
    pub fn new(environment: Environment, config: Config, zone: TimeZone) -> Result<Self, Failure> {
        let mut catalogue = Catalogue::built_in().map_err(|error| Failure::failed(error.to_string()))?;
        catalogue.add(config.models.clone(), config.embeddings.clone());
        Ok(Self { environment, config, catalogue, zone })
    }

    /// The chat model named on the command line, else in the environment, else by the project, else set before, else in the config,
    /// else the one there is a key or a server for, else memory alone.
    pub async fn choose(
        &self,
        named: Option<&str>,
        store: &(impl Settings + ?Sized),
    ) -> Result<ModelChoice, Failure> {
        if let Some(name) = named {
            return Ok(ModelChoice::new(parse(name, "")?, "named by --model"));
        }
        if let Some(name) = self.environment.model() {
            return Ok(ModelChoice::new(parse(name, "MEMOIR_MODEL names an ")?, "named by MEMOIR_MODEL"));
        }
        if let (Some(name), true) = (&self.config.chat.model, self.config.by_project.contains("chat.model")) {
            let said = "the config of this project names an ";
            return Ok(ModelChoice::new(parse(name, said)?, "named by the config of this project"));
        }
        if let Some(name) = store.setting(ModelTask::Chat.key()).await? {
            return Ok(ModelChoice::new(parse(&name, "")?, "set with /models set"));
        }
        if let Some(name) = &self.config.chat.model {
            return Ok(ModelChoice::new(parse(name, "the config names an ")?, "named by the config"));
        }
        Ok(self.automatic().await)
    }

    /// The model for summaries, where one is set apart from the chat model's.
    pub async fn summarizer(&self, store: &dyn Settings) -> Result<Option<ModelName>, Failure> {
        let set = store.setting(ModelTask::Summarizer.key()).await?;
        set.or_else(|| self.config.summarizer.model.clone()).map(|name| parse(&name, "")).transpose()
    }

    /// Connects that model. If it cannot be called, adds a notice and returns `None`: summaries are then made without a model.
    ///
    /// # Errors
    ///
    /// Fails if the setting cannot be read, or names no model.
    pub async fn connect_summarizer(
        &self,
        store: &dyn Settings,
        notices: &mut Vec<String>,
    ) -> Result<Option<Arc<dyn ChatModel>>, Failure> {
        let Some(name) = self.summarizer(store).await? else { return Ok(None) };
        if name.provider == Provider::Memoir {
            // It quotes memory, and so do summaries without a model.
            return Ok(None);
        }
        // Work that fails has a clock of its own.
        let once = RetryPolicy { attempts: 0, ..RetryPolicy::default() };
        match self.connect_with(&mut ModelChoice::new(name, "set for summaries"), once).await {
            Ok(model) => Ok(Some(model)),
            Err(failure) => {
                notices.push(format!("Summaries are made without a model: {}", failure.sentence()));
                Ok(None)
            }
        }
    }

    async fn automatic(&self) -> ModelChoice {
        for provider in WITH_KEYS {
            let variables = Environment::key_variables(provider);
            if self.has_key(provider)
                && let Some(name) = self.catalogue.default_model(provider)
            {
                return ModelChoice::new(name, format!("{} is set", variables.join(" or ")));
            }
        }
        if let Some(LocalServer { model, base_url }) = find_local_server(&self.local_candidates(), None).await
        {
            let shown = Endpoint::new(model.provider, base_url.clone(), None)
                .map(|found| found.shown_url().to_owned());
            let reason = format!("found at {}", shown.unwrap_or_default());
            return ModelChoice { name: model, reason, base_url: Some(base_url) };
        }
        let given = self.environment.base_url(Provider::OpenAi);
        match (given, self.catalogue.default_model(Provider::OpenAi)) {
            (Some(_), Some(name)) => ModelChoice::new(name, "OPENAI_BASE_URL is set"),
            _ => ModelChoice::new(ModelName::recall(), "no key is set and no local server was found"),
        }
    }

    /// Where a server may be: where the user says, or at the usual places.
    fn local_candidates(&self) -> Vec<(Provider, String)> {
        let compatible = |url: &str| (Provider::OpenAiCompatible, url.to_owned());
        let given = self.address(Provider::OpenAiCompatible).map(|url| compatible(&url));
        let ollama = self.address(Provider::Ollama).map(|url| (Provider::Ollama, url));
        let usual: Vec<_> = match self.environment.local_servers() {
            Some(named) => named.into_iter().map(compatible).collect(),
            None => ollama.into_iter().chain(USUAL_SERVERS.map(compatible)).collect(),
        };
        given.into_iter().chain(usual).collect()
    }

    /// Servers of models on this machine that listen, by their addresses.
    pub async fn listening(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (provider, url) in self.local_candidates() {
            let shown =
                Endpoint::new(provider, url.clone(), None).map(|endpoint| endpoint.shown_url().to_owned());
            if let (Ok(shown), true) = (shown, listens(provider, &url).await) {
                found.push(shown);
            }
        }
        found.dedup();
        found
    }

    /// Where a model is called, if that is not its provider's own address, and whether anyone listens there.
    pub async fn reached(&self, choice: &mut ModelChoice) -> Option<(String, bool)> {
        let provider = choice.name.provider;
        let endpoint = self.locate_endpoint(choice).await.ok()?;
        let url = choice.base_url.clone().or_else(|| self.address(provider))?;
        if provider == Provider::Memoir
            || default_url(provider) == Some(url.as_str()) && provider != Provider::Ollama
        {
            return None;
        }
        Some((endpoint.shown_url().to_owned(), listens(provider, &url).await))
    }

    /// Whether there is a key for a provider.
    pub fn has_key(&self, provider: Provider) -> bool {
        self.environment.key(provider).is_some()
    }

    fn address(&self, provider: Provider) -> Option<String> {
        let given = self.environment.base_url(provider).or_else(|| self.config.base_url(provider));
        given.or(default_url(provider)).map(str::to_owned)
    }

    /// The model, ready to be called.
    pub async fn connect(&self, choice: &mut ModelChoice) -> Result<Arc<dyn ChatModel>, Failure> {
        self.connect_with(choice, self.config.retry_policy()).await
    }

    async fn connect_with(
        &self,
        choice: &mut ModelChoice,
        retry: RetryPolicy,
    ) -> Result<Arc<dyn ChatModel>, Failure> {
        if choice.name.provider == Provider::Memoir {
            return Ok(Arc::new(RecallModel::new(self.zone.clone(), HOW_TO_CONNECT)));
        }
        let endpoint = self.locate_endpoint(choice).await?;
        let name = &choice.name;
        let options = self.config.call_options();
        let info = self.catalogue.model(name).cloned();
        if name.provider == Provider::Ollama {
            return Ok(Arc::new(Retrying::new(OllamaModel::new(name, &endpoint, info, options)?, retry)));
        }
        Ok(Arc::new(Retrying::new(RemoteModel::new(name, &endpoint, info, options)?, retry)))
    }

    /// Where a model is reached, wherever its server may be.
    pub async fn locate_endpoint(&self, choice: &mut ModelChoice) -> Result<Endpoint, Failure> {
        self.locate(choice).await;
        self.endpoint(choice)
    }

    /// A model of a local server, named without an address, is looked for where such servers are.
    async fn locate(&self, choice: &mut ModelChoice) {
        let provider = choice.name.provider;
        if provider == Provider::OpenAiCompatible
            && choice.base_url.is_none()
            && self.address(provider).is_none()
        {
            let found = find_local_server(&self.local_candidates(), Some(&choice.name.model)).await;
            choice.base_url = found.filter(|found| found.model == choice.name).map(|found| found.base_url);
        }
    }

    /// The key for a model. One that is meant for a provider is not sent to a server that the config names, or
    /// that was found: such a server has its own, or none.
    fn key_for(&self, choice: &ModelChoice) -> Option<SecretString> {
        let provider = choice.name.provider;
        if let Some(variable) = self.config.key_variable(provider) {
            return self.environment.variable(variable).map(SecretString::from);
        }
        let elsewhere = choice.base_url.is_some() || self.environment.base_url(provider).is_none();
        if provider == Provider::OpenAiCompatible && elsewhere {
            None
        } else {
            self.environment.key(provider)
        }
    }

    /// Where a model is reached. A server of one's own may do without a key; a provider does not.
    fn endpoint(&self, choice: &ModelChoice) -> Result<Endpoint, Failure> {
        let name = &choice.name;
        let key = self.key_for(choice);
        let own_address =
            self.environment.base_url(name.provider).or_else(|| self.config.base_url(name.provider));
        if key.is_none() && own_address.is_none() && WITH_KEYS.contains(&name.provider) {
            let variables = Environment::key_variables(name.provider).join(" or ");
            return Err(Failure::failed(format!("{name} needs a key")).hint(format!(
                "Set {variables}, or choose another model: memoir models set auto, or --model memoir/recall."
            )));
        }
        let Some(base_url) = choice.base_url.clone().or_else(|| self.address(name.provider)) else {
            return Err(Failure::failed(format!("{name} has no address")).hint(
                "Start its server, or set OPENAI_BASE_URL to it, for example http://127.0.0.1:8080/v1.",
            ));
        };
        Endpoint::new(name.provider, base_url, key).map_err(|error| {
            let given =
                self.environment.base_url(name.provider).and(Environment::url_variable(name.provider));
            let variable = given.unwrap_or("base_url in the config");
            Failure::usage(error.to_string())
                .hint(format!("Mend {variable}; an address looks like http://127.0.0.1:8080/v1."))
        })
    }
}

/// The name, or what names there are.
pub fn parse(name: &str, whence: &str) -> Result<ModelName, Failure> {
    name.parse().map_err(|error: memoir_models::UnknownModel| {
        Failure::usage(format!("{whence}{error}")).hint(
            "Use claude-…, gemini-…, gpt-…, grok-…, ollama/NAME, openai-compatible/NAME or memoir/recall; \
             memoir models list shows what is known.",
        )
    })
}
