//! Which model tells the meaning of texts.

use std::sync::Arc;

use async_trait::async_trait;
use memoir_core::{Usage, Usd};
use memoir_embed::LocalEmbedder;
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, ModelError, ModelName, Provider};
use memoir_providers::{Endpoint, RemoteEmbedder};
use memoir_store::Settings;

use crate::{
    failure::Failure,
    models::{ModelChoice, Models, parse},
    settings::ModelTask,
};

impl Models {
    /// The embedding model that is set or named by the config; none is the one that is compiled in.
    pub async fn embedder_name(&self, store: &dyn Settings) -> Result<Option<ModelName>, Failure> {
        let set = store.setting(ModelTask::Embedder.key()).await?;
        let name = set.or_else(|| self.config.embedder.model.clone());
        name.filter(|name| name != memoir_embed::NAME).map(|name| parse(&name, "")).transpose()
    }

    /// That model, ready to be called. With one that cannot be, memory is searched by words alone: another would have to
    /// read everything first.
    ///
    /// # Errors
    ///
    /// Fails if the setting cannot be read, or names no model.
    pub async fn connect_embedder(
        &self,
        store: &dyn Settings,
        notices: &mut Vec<String>,
    ) -> Result<Arc<dyn Embedder>, Failure> {
        let Some(name) = self.embedder_name(store).await? else { return Ok(Arc::new(LocalEmbedder)) };
        Ok(match self.remote_embedder(&name).await {
            Ok(embedder) => Arc::new(embedder),
            Err(failure) => {
                notices.push(format!("Memory is searched by words alone: {}", failure.sentence()));
                Arc::new(Unavailable { name: name.to_string(), reason: failure.message })
            }
        })
    }

    async fn remote_embedder(&self, name: &ModelName) -> Result<RemoteEmbedder, Failure> {
        if name.provider == Provider::Anthropic {
            return Err(Failure::failed("Anthropic has no embedding models")
                .hint("memoir models list shows those that there are."));
        }
        let mut endpoint =
            self.locate_endpoint(&mut ModelChoice::new(name.clone(), "set for embeddings")).await?;
        if name.provider == Provider::Ollama {
            // Its own server speaks OpenAI's protocol too.
            let url = format!("{}/v1", endpoint.shown_url().trim_end_matches('/'));
            endpoint = Endpoint::new(Provider::OpenAiCompatible, url, None)
                .map_err(|error| Failure::usage(error.to_string()).hint("Mend OLLAMA_HOST."))?;
        }
        let info = self.catalogue.embedding(name).cloned();
        Ok(RemoteEmbedder::new(name, &endpoint, info)?)
    }
}

/// A model that cannot be called as things are set up.
struct Unavailable {
    name: String,
    reason: String,
}

#[async_trait]
impl Embedder for Unavailable {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    async fn embed(&self, _texts: &[String], _task: EmbedTask) -> Result<EmbeddedTexts, ModelError> {
        Err(ModelError::Unavailable(self.reason.clone()))
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        Some(Usd::ZERO)
    }

    fn is_available(&self) -> bool {
        false
    }
}
