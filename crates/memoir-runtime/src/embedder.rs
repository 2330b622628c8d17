//! Chooses the embedding model and connects to it.

use std::sync::Arc;

use async_trait::async_trait;
use memoir_core::{Usage, Usd};
use memoir_embed::LocalEmbedder;
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, ModelError, ModelName, Provider};
use memoir_providers::RemoteEmbedder;
use memoir_store::Settings;

use crate::{
    failure::Failure,
    models::{ModelChoice, Models, parse_model_name},
    settings::ModelTask,
};

impl Models {
    /// Returns the embedding model that is set, or `None` for the built-in one.
    pub async fn embedder_name(&self, store: &dyn Settings) -> Result<Option<ModelName>, Failure> {
        let stored = store.setting(ModelTask::Embedder.key()).await?;
        let name = stored.or_else(|| self.config.embedder.model.clone());
        name.filter(|name| name != memoir_embed::NAME).map(|name| parse_model_name(&name, "")).transpose()
    }

    /// Connects to the embedding model. If it is not available, adds a notice and returns a placeholder, so that memory
    /// is searched by keyword only. It does not fall back to another model, which would have to embed everything first.
    pub async fn connect_embedder(
        &self,
        store: &dyn Settings,
        notices: &mut Vec<String>,
    ) -> Result<Arc<dyn Embedder>, Failure> {
        let Some(name) = self.embedder_name(store).await? else { return Ok(Arc::new(LocalEmbedder)) };
        Ok(match self.remote_embedder(&name).await {
            Ok(embedder) => Arc::new(embedder),
            Err(failure) => {
                notices.push(format!("Memory is searched by keyword only: {}", failure.sentence()));
                Arc::new(UnavailableEmbedder { name: name.to_string(), reason: failure.message })
            }
        })
    }

    async fn remote_embedder(&self, name: &ModelName) -> Result<RemoteEmbedder, Failure> {
        if name.provider == Provider::Anthropic {
            return Err(Failure::failed("Anthropic has no embedding models")
                .hint("List the embedding models with `memoir models list`."));
        }
        let mut endpoint =
            self.locate_endpoint(&mut ModelChoice::new(name.clone(), "set for embeddings")).await?;
        if name.provider == Provider::Ollama {
            // Ollama also has an OpenAI-compatible API.
            endpoint = endpoint.below("v1");
        }
        let info = self.catalog.embedding(name).cloned();
        Ok(RemoteEmbedder::new(name, &endpoint, info)?)
    }
}

/// A placeholder for an embedding model that is not available.
struct UnavailableEmbedder {
    name: String,
    reason: String,
}

#[async_trait]
impl Embedder for UnavailableEmbedder {
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
