//! Detection of model servers on this machine, and of the models on a server.

use std::time::Duration;

use futures::future::join_all;
use memoir_models::{ModelError, ModelName, Provider};
use serde_json::Value;

use crate::{Endpoint, connection::Connection, dialect, endpoint::service_url};

/// A local server accepts or refuses a connection immediately. The timeout is for one that hangs, with some slack for a
/// busy machine.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// A server that accepts connections may take a while to list its models, above all on its first request.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);

/// A model server on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// The model to use on this server.
    pub model: ModelName,
    /// The server's base URL.
    pub base_url: String,
}

/// The result of a search for a local server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocalSearch {
    /// A server has a model.
    Found(LocalServer),
    /// The server at this base URL is still loading its model.
    Loading(String),
    /// No server has a model.
    NotFound,
}

/// What a server reports about its models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerModels {
    /// The names of its models.
    Listed(Vec<String>),
    /// It is still loading a model.
    Loading,
    /// It did not list any.
    Unknown,
}

impl ServerModels {
    /// Returns the name of the first model that is for chat.
    pub fn first_chat_model(&self) -> Option<&str> {
        match self {
            Self::Listed(names) => names.iter().map(String::as_str).find(|name| is_chat_model(name)),
            Self::Loading | Self::Unknown => None,
        }
    }
}

/// Queries all candidates concurrently and returns the first, in the given order, that serves `wanted_model` or, if
/// that is `None`, any chat model.
pub async fn find_local_server(candidates: &[(Provider, String)], wanted_model: Option<&str>) -> LocalSearch {
    let listening = join_all(candidates.iter().map(|(provider, url)| is_listening(*provider, url))).await;
    let candidates: Vec<&(Provider, String)> = candidates
        .iter()
        .zip(listening)
        .filter_map(|(candidate, is_listening)| is_listening.then_some(candidate))
        .collect();
    let lists = join_all(candidates.iter().map(|(provider, url)| async {
        match Endpoint::new(*provider, url.clone(), None) {
            Ok(endpoint) => list_models(*provider, &endpoint).await,
            Err(_) => ServerModels::Unknown,
        }
    }))
    .await;
    let search = |((provider, base_url), list): (&&(Provider, String), &ServerModels)| {
        if *list == ServerModels::Loading {
            return Some(LocalSearch::Loading(base_url.clone()));
        }
        let name = match (wanted_model, list) {
            (Some(model), ServerModels::Listed(names)) => {
                names.iter().map(String::as_str).find(|name| *name == model)
            }
            _ => list.first_chat_model().filter(|_| wanted_model.is_none()),
        }?;
        let model = ModelName::new(*provider, name);
        Some(LocalSearch::Found(LocalServer { model, base_url: base_url.clone() }))
    };
    candidates.iter().zip(&lists).find_map(search).unwrap_or(LocalSearch::NotFound)
}

/// Asks a server for its models.
pub async fn list_models(provider: Provider, endpoint: &Endpoint) -> ServerModels {
    let (path, models, name) = match provider {
        Provider::Ollama => ("api/tags", "/models", "/name"),
        Provider::Google => ("models", "/models", "/name"),
        _ => ("models", "/data", "/id"),
    };
    let headers = dialect::of(provider, None).key_headers(&endpoint.secret);
    let answer = match Connection::new(endpoint) {
        Ok(connection) => connection.get_json(path, &headers, LIST_TIMEOUT).await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(answer) => {
            let models = answer.pointer(models).and_then(Value::as_array);
            let names = models.into_iter().flatten().filter_map(|model| model.pointer(name)?.as_str());
            // Google's names have a prefix.
            let names = names.map(|name| name.strip_prefix("models/").unwrap_or(name).to_owned());
            ServerModels::Listed(names.collect())
        }
        Err(ModelError::Loading) => ServerModels::Loading,
        Err(error) => {
            tracing::debug!(%provider, error = error.kind(), "could not list a server's models");
            ServerModels::Unknown
        }
    }
}

/// Returns whether anything accepts connections at the address. This opens a plain TCP connection, because creating an
/// HTTP client takes several milliseconds of the startup time.
pub async fn is_listening(provider: Provider, base_url: &str) -> bool {
    let url = reqwest::Url::parse(&service_url(provider, base_url)).ok();
    let address = url.and_then(|url| Some((url.host_str()?.to_owned(), url.port_or_known_default()?)));
    let Some((host, port)) = address else { return false };
    let connecting = tokio::net::TcpStream::connect((host.trim_matches(['[', ']']), port));
    matches!(tokio::time::timeout(CONNECT_TIMEOUT, connecting).await, Ok(Ok(_)))
}

/// Returns whether a model is for chat. Embedding and reranking models, which servers also list, are recognized by
/// name.
fn is_chat_model(name: &str) -> bool {
    const OTHER_KINDS: [&str; 13] = [
        "embed",
        "minilm",
        "bge-",
        "gte-",
        "e5-",
        "rerank",
        "arctic",
        "whisper",
        "dall-e",
        "tts",
        "image",
        "moderation",
        "transcribe",
    ];
    let name = name.to_lowercase();
    !OTHER_KINDS.iter().any(|part| name.contains(part))
}
