//! Calls the REST API of a hub.

use std::{collections::HashMap, fs::File, time::Duration};

use reqwest::{Method, RequestBuilder, StatusCode, Url};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    address::HubAddress,
    queue::{Queue, QueuedRequest},
};
use crate::{
    failure::{Failure, FailureKind},
    home::Home,
};

/// Time limit for each request.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Time limit for reaching the hub, which nobody should notice who is offline.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Time limit for another process that sends what waits.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// Time between two looks whether it has finished.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// Why a request failed.
#[derive(Debug)]
pub enum HubError {
    /// The hub cannot be reached or is not ready. The request may succeed later.
    Unreachable(String),
    /// The hub does not accept the token.
    Unauthorized(String),
    /// What the request contains was stored before, and has been forgotten since.
    Gone(String),
    /// The hub understood the request and refuses it.
    Refused(String),
}

impl HubError {
    /// Returns what went wrong, as a clause.
    pub(super) fn message(&self) -> String {
        match self {
            Self::Unreachable(reason) => format!("the hub cannot be reached: {reason}"),
            Self::Unauthorized(reason) => format!("the hub does not let this machine in: {reason}"),
            Self::Gone(reason) | Self::Refused(reason) => reason.clone(),
        }
    }
}

impl From<HubError> for Failure {
    fn from(error: HubError) -> Self {
        let message = error.message();
        match error {
            HubError::Unreachable(_) => Self::failed(message)
                .hint("Try again later. What it should remember waits on this machine until then."),
            HubError::Unauthorized(_) => Self::failed(message).hint(
                "Set `MEMOIR_TOKEN` to a token of the hub, which `memoir serve token add` creates there.",
            ),
            HubError::Gone(_) => Self::new(FailureKind::Missing, message),
            HubError::Refused(_) => Self::usage(message),
        }
    }
}

/// What forgetting would delete.
#[derive(Debug, Deserialize)]
pub struct ForgetPreview {
    /// A line for each item.
    pub items: Vec<String>,
    /// Number of messages.
    pub messages: u64,
    /// Number of documents.
    pub documents: u64,
    /// Names what the user agrees to.
    pub plan: String,
}

/// What was deleted.
#[derive(Debug, Deserialize)]
pub struct ForgetReply {
    /// Number of messages.
    pub messages: u64,
    /// Number of documents.
    pub documents: u64,
}

/// What became of the requests that waited.
#[derive(Default)]
pub struct Sent {
    /// The replies by key.
    pub results: HashMap<String, Result<Value, HubError>>,
    /// Why the others still wait.
    pub obstacle: Option<HubError>,
}

/// A memory on another machine.
pub struct Hub {
    address: HubAddress,
    client: reqwest::Client,
    queue: Queue,
}

impl Hub {
    /// Prepares calls to a hub. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails if the system has no usable TLS.
    pub fn new(address: HubAddress, home: &Home) -> Result<Self, Failure> {
        memoir_providers::install_tls_library();
        let client = reqwest::Client::builder().timeout(TIMEOUT).connect_timeout(CONNECT_TIMEOUT).build();
        let client =
            client.map_err(|error| Failure::failed(format!("could not prepare a connection: {error}")))?;
        let queue = Queue::new(home, address.url.as_str());
        Ok(Self { address, client, queue })
    }

    /// Returns where the hub is.
    pub fn address(&self) -> &HubAddress {
        &self.address
    }

    /// Stores a request on this machine, so that it is sent before those that follow.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be stored.
    pub fn keep(&self, request: &QueuedRequest) -> Result<(), Failure> {
        self.queue.add(request)
    }

    /// Removes a request that has not been sent. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// Fails if another process is sending, or if it cannot be removed.
    pub async fn withdraw(&self, key: &str) -> Result<bool, Failure> {
        let busy = || Failure::failed("another process is sending to the hub").hint("Try again.");
        let _lock = tokio::time::timeout(LOCK_TIMEOUT, self.wait_for_lock()).await.map_err(|_| busy())??;
        let entries = self.queue.entries()?;
        match entries.iter().find(|entry| entry.request.key == key) {
            Some(entry) => self.queue.remove(entry).map(|()| true),
            None => Ok(false),
        }
    }

    /// Returns the number of requests that wait.
    ///
    /// # Errors
    ///
    /// Fails if they cannot be read.
    pub fn count_waiting(&self) -> Result<usize, Failure> {
        Ok(self.queue.entries()?.len())
    }

    /// Sends a request after everything that waits, and returns the reply: `None` if it still waits, and why.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be stored on this machine, or if the hub refuses it.
    pub async fn submit(
        &self,
        request: &QueuedRequest,
    ) -> Result<(Option<Value>, Option<HubError>), Failure> {
        self.keep(request)?;
        let mut sent = self.send_queue().await?;
        match sent.results.remove(&request.key) {
            Some(result) => Ok((Some(result?), None)),
            None => Ok((None, sent.obstacle)),
        }
    }

    /// Sends the requests that wait, in their order, until one cannot be sent.
    ///
    /// # Errors
    ///
    /// Fails if they cannot be read or removed.
    pub async fn send_queue(&self) -> Result<Sent, Failure> {
        let mut sent = Sent::default();
        if self.queue.entries()?.is_empty() {
            return Ok(sent);
        }
        let Ok(lock) = tokio::time::timeout(LOCK_TIMEOUT, self.wait_for_lock()).await else {
            return Ok(sent);
        };
        let _lock = lock?;
        for entry in self.queue.entries()? {
            let result = self.send(&entry.request).await;
            match &result {
                Ok(_) | Err(HubError::Gone(_)) => self.queue.remove(&entry)?,
                Err(HubError::Refused(reason)) => {
                    let path = self.queue.put_aside(&entry)?;
                    tracing::warn!(reason, path = %path.display(), "the hub refused a request");
                }
                Err(_) => {
                    sent.obstacle = result.err();
                    break;
                }
            }
            sent.results.insert(entry.request.key, result);
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

    async fn send(&self, queued: &QueuedRequest) -> Result<Value, HubError> {
        let send = |project: Option<&str>| {
            let request = self.request(Method::POST, &queued.route, project);
            self.call(request.header("idempotency-key", &queued.key).json(&queued.body))
        };
        match send(queued.project.as_deref()).await {
            Err(HubError::Unauthorized(_)) if queued.may_differ => send(None).await,
            result => result,
        }
    }

    /// Checks that the token is accepted, for a project or for all that it covers.
    ///
    /// # Errors
    ///
    /// Fails if the hub cannot be reached or refuses the token.
    pub async fn check(&self, project: Option<&str>) -> Result<(), HubError> {
        self.call::<Value>(self.request(Method::GET, "health", project)).await.map(drop)
    }

    /// Sends a question, and returns the reply of the route `recall`.
    pub(super) async fn recall<T: DeserializeOwned>(
        &self,
        question: &Value,
        project: Option<&str>,
    ) -> Result<T, HubError> {
        self.call(self.request(Method::POST, "recall", project).json(question)).await
    }

    /// Returns what forgetting would delete.
    ///
    /// # Errors
    ///
    /// Fails if the hub cannot be reached or refuses.
    pub async fn preview_forgetting(
        &self,
        selection: &(impl Serialize + Sync),
        project: Option<&str>,
    ) -> Result<ForgetPreview, HubError> {
        self.call(self.request(Method::POST, "forget/preview", project).json(selection)).await
    }

    /// Deletes what a preview has listed.
    ///
    /// # Errors
    ///
    /// Fails if the hub cannot be reached or refuses.
    pub async fn forget(
        &self,
        selection: &(impl Serialize + Sync),
        plan: &str,
        project: Option<&str>,
    ) -> Result<ForgetReply, HubError> {
        let body = json!({"selection": selection, "plan": plan});
        self.call(self.request(Method::POST, "forget", project).json(&body)).await
    }

    fn path(&self, path: &str) -> Url {
        let mut url = self.address.url.clone();
        url.set_path(&format!("/api/v1/{path}"));
        url
    }

    fn request(&self, method: Method, path: &str, project: Option<&str>) -> RequestBuilder {
        let request = self.client.request(method, self.path(path));
        match project {
            Some(project) => request.query(&[("project", project)]),
            None => request,
        }
    }

    async fn call<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, HubError> {
        let unreachable = |error: reqwest::Error| HubError::Unreachable(describe(&error));
        let response = request.bearer_auth(self.address.token()).send().await.map_err(unreachable)?;
        let status = response.status();
        if status.is_success() {
            return response.json().await.map_err(unreachable);
        }
        let problem: Value = response.json().await.unwrap_or_default();
        let detail =
            problem["detail"].as_str().map_or_else(|| format!("it answered {status}"), str::to_owned);
        Err(match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => HubError::Unauthorized(detail),
            StatusCode::GONE => HubError::Gone(detail),
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
