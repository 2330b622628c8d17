//! Detection of model servers on this machine.

use std::time::Duration;

use futures::future::join_all;
use memoir_models::{ModelName, Provider};
use serde_json::Value;

use crate::{endpoint::service_url, http};

/// A local server answers or refuses the connection immediately. The timeout is for one that hangs, with some slack for
/// a busy machine.
const TIMEOUT: Duration = Duration::from_secs(1);

/// A model server on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// The model to use on this server.
    pub model: ModelName,
    /// The server's base URL.
    pub base_url: String,
}

/// Queries all candidates concurrently and returns the first, in the given order, that serves `wanted_model` or, if
/// that is `None`, any chat model.
pub async fn find_local_server(
    candidates: &[(Provider, String)],
    wanted_model: Option<&str>,
) -> Option<LocalServer> {
    let listening = join_all(candidates.iter().map(|(provider, url)| is_listening(*provider, url))).await;
    let candidates: Vec<&(Provider, String)> = candidates
        .iter()
        .zip(listening)
        .filter_map(|(candidate, is_listening)| is_listening.then_some(candidate))
        .collect();
    if candidates.is_empty() {
        return None;
    }
    // Without a client, no local server is detected, and model selection tries the next option.
    let client = http::client(true).ok()?;
    let queries = candidates.iter().map(|(provider, url)| {
        tokio::time::timeout(TIMEOUT, find_model(&client, *provider, url, wanted_model))
    });
    join_all(queries).await.into_iter().find_map(|server| server.ok().flatten())
}

/// Returns whether anything accepts connections at the address. This opens a plain TCP connection, because creating an
/// HTTP client takes several milliseconds of the startup time.
pub async fn is_listening(provider: Provider, base_url: &str) -> bool {
    let url = reqwest::Url::parse(&service_url(provider, base_url)).ok();
    let address = url.and_then(|url| Some((url.host_str()?.to_owned(), url.port_or_known_default()?)));
    let Some((host, port)) = address else { return false };
    let connecting = tokio::net::TcpStream::connect((host.trim_matches(['[', ']']), port));
    matches!(tokio::time::timeout(TIMEOUT, connecting).await, Ok(Ok(_)))
}

async fn find_model(
    client: &reqwest::Client,
    provider: Provider,
    base_url: &str,
    wanted_model: Option<&str>,
) -> Option<LocalServer> {
    let url = service_url(provider, base_url);
    let (path, models, name) = match provider {
        Provider::Ollama => ("api/tags", "/models", "/name"),
        _ => ("models", "/data", "/id"),
    };
    let body = read_json(client, &format!("{url}{path}")).await;
    // A server that cannot list its models is ignored.
    let body =
        body.inspect_err(|error| tracing::debug!(%provider, %error, "could not list a server's models"));
    let body = body.ok()?;
    let names = body.pointer(models)?.as_array()?.iter().filter_map(|model| model.pointer(name)?.as_str());
    let model = match wanted_model {
        Some(model) => names.into_iter().find(|name| *name == model)?,
        None => names.into_iter().find(|name| is_chat_model(name))?,
    };
    Some(LocalServer { model: ModelName::new(provider, model), base_url: base_url.to_owned() })
}

async fn read_json(client: &reqwest::Client, url: &str) -> Result<Value, reqwest::Error> {
    // The URL may contain a password, so it is removed from errors.
    let response = client.get(url).send().await.and_then(reqwest::Response::error_for_status);
    match response {
        Ok(response) => response.json().await.map_err(reqwest::Error::without_url),
        Err(error) => Err(error.without_url()),
    }
}

/// Returns whether a model is for chat. Embedding and reranking models, which servers also list, are recognized by
/// name.
fn is_chat_model(name: &str) -> bool {
    const OTHER_KINDS: [&str; 7] = ["embed", "minilm", "bge-", "gte-", "e5-", "rerank", "arctic"];
    let name = name.to_lowercase();
    !OTHER_KINDS.iter().any(|part| name.contains(part))
}
