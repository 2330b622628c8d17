//! Calls the hub: its MCP server for what is read, and its REST API for what is changed.

use std::{collections::HashMap, fs::File, sync::Arc, time::Duration};

use memoir_runtime::{Failure, home::Home};
use reqwest::{Method, RequestBuilder, StatusCode, Url};
use rmcp::{
    ClientServiceExt as _, RoleClient,
    model::ProtocolVersion,
    service::{ClientLifecycleMode, RunningService, ServiceError},
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::queue::{Queue, QueuedStatement};

/// Time limit for each request.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Time limit for reaching the hub, which nobody should notice who is offline.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Time limit for another process that sends what waits.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// Time between two looks whether it has finished.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// A connection to the hub's MCP server.
pub(super) type Connection = RunningService<RoleClient, ()>;

/// Where a hub is, and what lets this machine in.
#[derive(Clone)]
pub struct HubAddress {
    url: Url,
    token: String,
    /// Project whose memory is used. `None` for all that the token covers.
    project: Option<String>,
}

impl HubAddress {
    /// Checks an address.
    ///
    /// # Errors
    ///
    /// Fails if it is not that of a server, or if the token would cross a network unencrypted.
    pub fn new(url: &str, token: String, project: Option<String>) -> Result<Self, Failure> {
        let wrong = |reason: &str| {
            Failure::usage(format!("\"{url}\" {reason}"))
                .hint("Give the address of `memoir serve`, such as https://hub.example:7373.")
        };
        let parsed = Url::parse(url).map_err(|_| wrong("is not an address"))?;
        let is_local = match parsed.host_str() {
            Some(host) => host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(is_loopback),
            None => false,
        };
        match parsed.scheme() {
            "https" => {}
            "http" if is_local => {}
            "http" => return Err(wrong("would send your token over the network unencrypted")),
            _ => return Err(wrong("is not an address of a server")),
        }
        if parsed.path() != "/" || parsed.query().is_some() {
            return Err(wrong("has a path"));
        }
        // Projects are named by their paths. That of another system may begin differently.
        let project = project.map(|project| format!("/{}", project.trim_matches('/')));
        Ok(Self { url: parsed, token, project })
    }
}

fn is_loopback(address: std::net::IpAddr) -> bool {
    address.is_loopback()
}

/// Why a request failed.
#[derive(Debug)]
pub(super) enum HubError {
    /// The hub cannot be reached or is not ready. The request may succeed later.
    Unreachable(String),
    /// The hub does not accept the token.
    Unauthorized(String),
    /// The hub understood the request and refuses it.
    Refused(String),
}

impl From<HubError> for Failure {
    fn from(error: HubError) -> Self {
        match error {
            HubError::Unreachable(reason) => Self::failed(format!("the hub cannot be reached: {reason}"))
                .hint("Try again later. What you ask to remember is kept until then."),
            HubError::Unauthorized(reason) => Self::failed(format!(
                "the hub does not let this machine in: {reason}"
            ))
            .hint("Set `MEMOIR_TOKEN` to a token of the hub, which `memoir serve token add` creates there."),
            HubError::Refused(reason) => Self::usage(reason),
        }
    }
}

/// The answer to a statement.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct StatementReply {
    pub(super) exchange: i64,
    #[serde(default)]
    pub(super) supersedes: Vec<Superseded>,
}

/// A statement that another contradicts.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Superseded {
    pub(super) text: String,
    pub(super) exchange: Option<i64>,
    pub(super) document: Option<String>,
    pub(super) date: Option<String>,
}

/// What forgetting would delete.
#[derive(Debug, Deserialize)]
pub(super) struct ForgetPreview {
    pub(super) items: Vec<String>,
    pub(super) messages: u64,
    pub(super) documents: u64,
    pub(super) plan: String,
}

/// What was deleted.
#[derive(Debug, Deserialize)]
pub(super) struct ForgetReply {
    pub(super) messages: u64,
    pub(super) documents: u64,
}

/// What became of the statements that waited.
#[derive(Default)]
pub(super) struct SentStatements {
    /// By key.
    pub(super) results: HashMap<String, Result<StatementReply, HubError>>,
    /// Why the others still wait.
    pub(super) obstacle: Option<HubError>,
}

/// A memory on another machine.
pub(super) struct Hub {
    address: HubAddress,
    client: reqwest::Client,
    queue: Queue,
    connection: Mutex<Option<Arc<Connection>>>,
}

impl Hub {
    pub(super) fn new(address: HubAddress, home: &Home) -> Result<Self, Failure> {
        let client = reqwest::Client::builder().timeout(TIMEOUT).connect_timeout(CONNECT_TIMEOUT).build();
        let client =
            client.map_err(|error| Failure::failed(format!("could not prepare a connection: {error}")))?;
        let queue = Queue::new(home, address.url.as_str());
        Ok(Self { address, client, queue, connection: Mutex::default() })
    }

    /// Returns the project whose memory is used.
    pub(super) fn project(&self) -> Option<String> {
        self.address.project.clone()
    }

    /// Returns the open connection to the MCP server, or opens one.
    pub(super) async fn connect(&self) -> Result<Arc<Connection>, HubError> {
        let mut connection = self.connection.lock().await;
        if let Some(connection) = connection.as_ref().filter(|connection| !connection.is_closed()) {
            return Ok(Arc::clone(connection));
        }
        // A wrong token, for example, has a better description here.
        self.call::<Value>(self.request(Method::GET, "health")).await?;
        let url = self.mcp_url();
        let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
            .auth_header(self.address.token.clone());
        let mode = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
        let opening = ().serve_with_lifecycle(StreamableHttpClientTransport::from_config(config), mode);
        let opened = tokio::time::timeout(TIMEOUT, opening).await;
        let opened = opened.map_err(|_| HubError::Unreachable("it does not answer".to_owned()))?;
        let opened = Arc::new(opened.map_err(|error| HubError::Unreachable(error.to_string()))?);
        *connection = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// Forgets the connection after an error that may be its fault, and describes the error.
    pub(super) async fn disconnect(&self, error: &ServiceError) -> HubError {
        *self.connection.lock().await = None;
        HubError::Unreachable(error.to_string())
    }

    /// Stores a statement on this machine, sends everything that waits, and returns what became of this one: `None` if it
    /// still waits, and why.
    pub(super) async fn remember(
        &self,
        statement: &QueuedStatement,
    ) -> Result<(Option<StatementReply>, Option<HubError>), Failure> {
        self.queue.add(statement)?;
        let mut sent = self.send_queue().await?;
        match sent.results.remove(&statement.key) {
            Some(result) => Ok((Some(result?), None)),
            None => Ok((None, sent.obstacle)),
        }
    }

    /// Sends the statements that wait, in their order, until one cannot be sent.
    pub(super) async fn send_queue(&self) -> Result<SentStatements, Failure> {
        let mut sent = SentStatements::default();
        if self.queue.entries()?.is_empty() {
            return Ok(sent);
        }
        let Ok(lock) = tokio::time::timeout(LOCK_TIMEOUT, self.wait_for_lock()).await else {
            return Ok(sent);
        };
        let _lock = lock?;
        for entry in self.queue.entries()? {
            let key = entry.statement.key.clone();
            match self.send(&entry.statement).await {
                Ok(reply) => {
                    self.queue.remove(&entry)?;
                    sent.results.insert(key, Ok(reply));
                }
                Err(HubError::Refused(reason)) => {
                    let path = self.queue.put_aside(&entry)?;
                    tracing::warn!(reason, path = %path.display(), "the hub refused a statement");
                    sent.results.insert(key, Err(HubError::Refused(reason)));
                }
                Err(error) => {
                    sent.obstacle = Some(error);
                    break;
                }
            }
        }
        Ok(sent)
    }

    async fn wait_for_lock(&self) -> Result<File, Failure> {
        loop {
            match self.queue.lock()? {
                Some(lock) => return Ok(lock),
                None => tokio::time::sleep(LOCK_INTERVAL).await,
            }
        }
    }

    async fn send(&self, statement: &QueuedStatement) -> Result<StatementReply, HubError> {
        let body = json!({
            "statement": statement.statement, "shared": statement.shared, "program": statement.program,
        });
        let mut request = self.client.request(Method::POST, self.path("statements"));
        if let Some(project) = &statement.project {
            request = request.query(&[("project", project)]);
        }
        self.call(request.header("idempotency-key", &statement.key).json(&body)).await
    }

    /// Returns what forgetting would delete.
    pub(super) async fn preview_forgetting(
        &self,
        selection: &impl Serialize,
    ) -> Result<ForgetPreview, HubError> {
        self.call(self.request(Method::POST, "forget/preview").json(selection)).await
    }

    /// Deletes what a preview has listed.
    pub(super) async fn forget(
        &self,
        selection: &impl Serialize,
        plan: &str,
    ) -> Result<ForgetReply, HubError> {
        let body = json!({"selection": selection, "plan": plan});
        self.call(self.request(Method::POST, "forget").json(&body)).await
    }

    /// Returns the address of the hub's MCP server for the project.
    fn mcp_url(&self) -> Url {
        let mut url = self.address.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            let project = self.address.project.iter().flat_map(|project| project.split('/').skip(1));
            segments.pop_if_empty().push("mcp").extend(project);
        }
        url
    }

    fn path(&self, path: &str) -> Url {
        let mut url = self.address.url.clone();
        url.set_path(&format!("/api/v1/{path}"));
        url
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, self.path(path));
        match &self.address.project {
            Some(project) => request.query(&[("project", project)]),
            None => request,
        }
    }

    async fn call<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, HubError> {
        let unreachable = |error: reqwest::Error| HubError::Unreachable(describe(&error));
        let response = request.bearer_auth(&self.address.token).send().await.map_err(unreachable)?;
        let status = response.status();
        if status.is_success() {
            return response.json().await.map_err(unreachable);
        }
        let problem: Value = response.json().await.unwrap_or_default();
        let detail =
            problem["detail"].as_str().map_or_else(|| format!("it answered {status}"), str::to_owned);
        Err(match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => HubError::Unauthorized(detail),
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => HubError::Unreachable(detail),
            status if status.is_client_error() => HubError::Refused(detail),
            _ => HubError::Unreachable(detail),
        })
    }
}

/// Returns the innermost cause of an error, which says what happened. The outer ones repeat the address.
fn describe(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_only_sent_to_this_machine_or_encrypted() {
        let address = |url: &str| HubAddress::new(url, "token".into(), None);
        for url in [
            "https://hub.example",
            "https://hub.example:7373/",
            "http://127.0.0.1:7373",
            "http://[::1]:1",
            "http://localhost",
        ] {
            assert!(address(url).is_ok(), "{url}");
        }
        for url in [
            "http://hub.example",
            "http://192.168.1.2:7373",
            "hub.example",
            "ftp://hub",
            "https://hub.example/mcp",
            "",
        ] {
            assert!(address(url).is_err(), "{url}");
        }
    }
}
