//! Looking for a model server on this machine.

use std::time::Duration;

use futures::future::join_all;
use memoir_models::{ModelName, Provider};
use serde_json::Value;

use crate::{endpoint::service_url, http};

/// A server that is there answers at once; one that is not is refused at once. This is for neither, and leaves a busy machine
/// some time to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// A server found on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// What runs there and the model it serves.
    pub model: ModelName,
    /// Its address.
    pub base_url: String,
}

/// Asks all candidates at once which models they have, and takes the first, in their order, that has the
/// `wanted` one, or any to talk to.
pub async fn find_local_server(
    candidates: &[(Provider, String)],
    wanted: Option<&str>,
) -> Option<LocalServer> {
    let listening = join_all(candidates.iter().map(|(provider, url)| listens(*provider, url))).await;
    let candidates: Vec<&(Provider, String)> = candidates
        .iter()
        .zip(listening)
        .filter_map(|(candidate, listens)| listens.then_some(candidate))
        .collect();
    if candidates.is_empty() {
        return None;
    }
    let client = http::loopback_client()?;
    let asked = candidates
        .iter()
        .map(|(provider, url)| tokio::time::timeout(PATIENCE, ask(&client, *provider, url, wanted)));
    join_all(asked).await.into_iter().find_map(|answer| answer.ok().flatten())
}

/// Whether anything is there. Knocking is quick; an HTTP client takes milliseconds to make, which a start-up has not.
pub async fn listens(provider: Provider, base_url: &str) -> bool {
    let url = reqwest::Url::parse(&service_url(provider, base_url)).ok();
    let address = url.and_then(|url| Some((url.host_str()?.to_owned(), url.port_or_known_default()?)));
    let Some((host, port)) = address else { return false };
    let knocking = tokio::net::TcpStream::connect((host.trim_matches(['[', ']']), port));
    matches!(tokio::time::timeout(PATIENCE, knocking).await, Ok(Ok(_)))
}

async fn ask(
    client: &reqwest::Client,
    provider: Provider,
    base_url: &str,
    wanted: Option<&str>,
) -> Option<LocalServer> {
    let url = service_url(provider, base_url);
    let (path, models, name) = match provider {
        Provider::Ollama => ("api/tags", "/models", "/name"),
        _ => ("models", "/data", "/id"),
    };
    let body = read_json(client, &format!("{url}{path}")).await;
    // A server that does not list its models is treated as if it were not there.
    let body =
        body.inspect_err(|error| tracing::debug!(%provider, %error, "cannot list the models of a server"));
    let body = body.ok()?;
    let names = body.pointer(models)?.as_array()?.iter().filter_map(|model| model.pointer(name)?.as_str());
    let model = match wanted {
        Some(wanted) => names.into_iter().find(|name| *name == wanted)?,
        None => names.into_iter().find(|name| talks(name))?,
    };
    Some(LocalServer { model: ModelName::new(provider, model), base_url: base_url.to_owned() })
}

async fn read_json(client: &reqwest::Client, url: &str) -> Result<Value, reqwest::Error> {
    // The address may hold a password.
    let response = client.get(url).send().await.and_then(reqwest::Response::error_for_status);
    match response {
        Ok(response) => response.json().await.map_err(reqwest::Error::without_url),
        Err(error) => Err(error.without_url()),
    }
}

/// Servers list embedding and ranking models too, and one cannot talk to those.
fn talks(name: &str) -> bool {
    const SILENT: [&str; 7] = ["embed", "minilm", "bge-", "gte-", "e5-", "rerank", "arctic"];
    let name = name.to_lowercase();
    !SILENT.iter().any(|part| name.contains(part))
}
