//! Chooses the embedding model and connects to it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use memoir_core::{Usage, Usd};
use memoir_embed::{DirectoryEmbedder, LocalEmbedder};
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, ModelError, ModelName, Provider};
use memoir_providers::RemoteEmbedder;
use memoir_store::Settings;

use crate::{
    failure::Failure,
    files::expand_home,
    models::{ModelChoice, Models, parse_model_name},
    settings::ModelTask,
};

/// An embedding model.
enum EmbedderChoice {
    BuiltIn,
    Directory(PathBuf),
    Named(ModelName),
}

impl Models {
    /// Returns the embedding model that is set.
    async fn choose_embedder(&self, store: &dyn Settings) -> Result<EmbedderChoice, Failure> {
        let stored = store.setting(ModelTask::Embedder.key()).await?;
        let section = &self.config.embedder;
        let name = match (stored, &section.model, &section.path) {
            (Some(name), ..) => name,
            (None, Some(_), Some(_)) => {
                return Err(Failure::usage("`[embedder]` in the config has a `model` and a `path`")
                    .hint("Remove one of them."));
            }
            (None, None, Some(path)) => {
                return Ok(EmbedderChoice::Directory(expand_home(path, self.environment.user_home())));
            }
            (None, Some(name), None) => name.clone(),
            (None, None, None) => return Ok(EmbedderChoice::BuiltIn),
        };
        Ok(match name == memoir_embed::NAME {
            true => EmbedderChoice::BuiltIn,
            false => EmbedderChoice::Named(parse_model_name(&name, "")?),
        })
    }

    /// Connects to the embedding model. If it is not available, adds a notice and returns a placeholder, so that memory
    /// is searched by keyword only. It does not fall back to another model, which would have to embed everything first.
    pub async fn connect_embedder(
        &self,
        store: &dyn Settings,
        notices: &mut Vec<String>,
    ) -> Result<Arc<dyn Embedder>, Failure> {
        let (name, result): (String, Result<Arc<dyn Embedder>, Failure>) =
            match self.choose_embedder(store).await? {
                EmbedderChoice::BuiltIn => return Ok(Arc::new(LocalEmbedder)),
                EmbedderChoice::Directory(path) => (path.display().to_string(), open_directory(&path)),
                EmbedderChoice::Named(name) => {
                    let embedder = self.remote_embedder(&name).await;
                    (name.to_string(), embedder.map(|embedder| Arc::new(embedder) as Arc<dyn Embedder>))
                }
            };
        Ok(result.unwrap_or_else(|failure| {
            notices.push(format!("Memory is searched by keyword only: {}", failure.sentence()));
            Arc::new(UnavailableEmbedder { name, reason: failure.message })
        }))
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

fn open_directory(path: &Path) -> Result<Arc<dyn Embedder>, Failure> {
    let hint = "Correct `embedder.path` in the config, or remove it to use the built-in model.";
    let embedder = match path.is_absolute() {
        true => DirectoryEmbedder::open(path).map_err(|error| error.to_string()),
        false => Err("the path is not absolute".to_owned()),
    };
    match embedder {
        Ok(embedder) => {
            let embedder = Arc::new(embedder);
            let loading = Arc::clone(&embedder);
            // The first use reports an error.
            tokio::task::spawn_blocking(move || loading.load());
            Ok(embedder)
        }
        Err(reason) => {
            let path = path.display();
            Err(Failure::failed(format!("the embedding model in {path} cannot be used: {reason}")).hint(hint))
        }
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
