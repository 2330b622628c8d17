//! Calls the REST API of a hub.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    time::Duration,
};

use reqwest::{Method, RequestBuilder, StatusCode, Url, redirect::Policy};
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
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// What is said about an answer that Memoir does not give.
const NOT_A_HUB: &str = "the server at this address is not Memoir, or an old one";

/// Time between two looks whether it has finished.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// Maximum size of an answer, in bytes, and of the description of a problem.
const MAX_ANSWER: usize = 64 << 20;
const MAX_PROBLEM: usize = 64 << 10;

/// Maximum length of what the hub says about a problem, in characters.
const MAX_DETAIL: usize = 300;

/// Time limit for finding out at the start whether the hub is there.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// Speed of a slow network, in bytes per second. Long requests get more time.
const SLOW: u64 = 50_000;

/// Why a request failed.
#[derive(Debug, Clone)]
pub enum HubError {
    /// There is no connection, so nothing was sent.
    Offline(String),
    /// The hub gave no answer, or one that is not from Memoir. The request may have arrived, and may succeed later.
    Unreachable(String),
    /// The hub failed to answer this request. Others may succeed.
    Failed(String),
    /// The hub does not accept the token.
    Unauthorized(String),
    /// The token does not cover this request.
    Forbidden(String),
    /// The hub does not have what the request is about.
    Missing(String),
    /// What the request contains was stored before, and has been forgotten since.
    Gone(String),
    /// The hub understood the request and refuses it.
    Refused(String),
}

impl HubError {
    /// Returns what went wrong, as a clause.
    pub(super) fn message(&self) -> String {
        match self {
            Self::Offline(reason) | Self::Unreachable(reason) => {
                format!("the hub cannot be reached: {reason}")
            }
            Self::Unauthorized(reason) | Self::Forbidden(reason) => {
                format!("the hub does not let this machine in: {reason}")
            }
            Self::Failed(reason) => format!("the hub failed: {reason}"),
            Self::Missing(reason) | Self::Gone(reason) | Self::Refused(reason) => reason.clone(),
        }
    }
}

impl From<HubError> for Failure {
    fn from(error: HubError) -> Self {
        let message = error.message();
        match error {
            HubError::Offline(_) | HubError::Unreachable(_) | HubError::Failed(_) => Self::failed(message)
                .hint("Try again later. What it should remember waits on this machine until then."),
            HubError::Unauthorized(_) | HubError::Forbidden(_) => Self::failed(message).hint(
                "Set `MEMOIR_TOKEN` to a token of the hub, which `memoir serve token add` creates there.",
            ),
            HubError::Missing(_) | HubError::Gone(_) => Self::new(FailureKind::Missing, message),
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
    /// By key: the ids that the hub replied with, or why it did not store the request.
    pub results: HashMap<String, Result<Value, HubError>>,
    /// Why others still wait.
    pub obstacle: Option<HubError>,
    /// Whether another process is sending, so that nothing was done.
    pub is_busy: bool,
}

/// What became of a request that was to be withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawal {
    /// It will not be sent.
    Withdrawn,
    /// It may have reached the hub already.
    MayBeStored,
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
        let builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            // The token and what is said are for this server only.
            .redirect(Policy::none());
        let builder = match address.is_local() {
            // A proxy would get everything unencrypted.
            true => builder.no_proxy(),
            false => builder.https_only(true),
        };
        let client = builder
            .build()
            .map_err(|error| Failure::failed(format!("could not prepare a connection: {error}")))?;
        let queue = Queue::new(home, address.url.as_str());
        Ok(Self { address, client, queue })
    }

    /// Returns where the hub is.
    pub fn address(&self) -> &HubAddress {
        &self.address
    }

    /// Returns the client, which sends nothing to anyone else.
    pub fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// Stores a request on this machine, so that it is sent before those that follow.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be stored.
    pub fn keep(&self, request: &QueuedRequest) -> Result<(), Failure> {
        self.queue.add(request)
    }

    /// Removes a request, unless it may have reached the hub.
    ///
    /// # Errors
    ///
    /// Fails if another process is sending, or if it cannot be removed.
    pub async fn withdraw(&self, key: &str) -> Result<Withdrawal, Failure> {
        let _lock = self.lock().await?;
        let entries = self.queue.entries()?;
        match entries.iter().find(|entry| entry.request.key == key && !entry.is_tried()) {
            Some(entry) => self.queue.remove(entry).map(|()| Withdrawal::Withdrawn),
            None => Ok(Withdrawal::MayBeStored),
        }
    }

    /// Returns whether a request can be withdrawn.
    ///
    /// # Errors
    ///
    /// Fails if the requests cannot be read.
    pub fn can_withdraw(&self, key: &str) -> Result<bool, Failure> {
        Ok(self.queue.entries()?.iter().any(|entry| entry.request.key == key && !entry.is_tried()))
    }

    /// Removes what is stored on this machine under a key, because the hub has it or never will.
    ///
    /// # Errors
    ///
    /// Fails if another process is sending, or if it cannot be removed.
    pub(super) async fn discard(&self, key: &str) -> Result<(), Failure> {
        let _lock = self.lock().await?;
        self.queue.discard(key)
    }

    /// Returns the keys of the requests of a conversation that wait.
    pub(super) fn waiting_in(&self, thread: &str) -> Result<Vec<String>, Failure> {
        let entries = self.queue.entries()?.into_iter().filter(|entry| entry.thread() == thread);
        Ok(entries.map(|entry| entry.request.key).collect())
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
            return Ok(Sent { is_busy: true, ..sent });
        };
        let _lock = lock?;
        let mut blocked = HashSet::new();
        for mut entry in self.queue.entries()? {
            if blocked.contains(entry.thread()) {
                continue;
            }
            let was_tried = entry.is_tried();
            self.queue.mark(&mut entry, true)?;
            let result = self.send(&entry.request).await;
            match &result {
                Ok(_) | Err(HubError::Gone(_)) => self.queue.remove(&entry)?,
                Err(HubError::Refused(_)) => {
                    let path = self.queue.put_aside(&entry)?;
                    tracing::warn!(path = %path.display(), "the hub refused a request");
                }
                Err(error) => {
                    let has_arrived = matches!(error, HubError::Unreachable(_) | HubError::Failed(_));
                    self.queue.mark(&mut entry, was_tried || has_arrived)?;
                    sent.obstacle = Some(error.clone());
                    // What is for another token, or too much for the hub, need not hold up other conversations.
                    if !matches!(error, HubError::Forbidden(_) | HubError::Failed(_)) {
                        break;
                    }
                    blocked.insert(entry.thread().to_owned());
                    continue;
                }
            }
            sent.results.insert(entry.request.key, result);
        }
        Ok(sent)
    }

    async fn lock(&self) -> Result<File, Failure> {
        let busy = |_| Failure::failed("something is being sent to the hub").hint("Try again.");
        tokio::time::timeout(LOCK_TIMEOUT, self.wait_for_lock()).await.map_err(busy)?
    }

    async fn wait_for_lock(&self) -> Result<File, Failure> {
        loop {
            match self.queue.lock()? {
                Some(lock) => return Ok(lock),
                None => tokio::time::sleep(LOCK_INTERVAL).await,
            }
        }
    }

    /// Sends a request. Returns the ids of what the hub has stored.
    pub(super) async fn send(&self, queued: &QueuedRequest) -> Result<Value, HubError> {
        let bytes = serde_json::to_vec(&queued.body).map_err(|error| HubError::Refused(error.to_string()))?;
        let time = TIMEOUT + Duration::from_secs(bytes.len() as u64 / SLOW);
        let send = |project: Option<&str>| {
            let request = self.request(Method::POST, &queued.route, project).timeout(time);
            let request = request.header("content-type", "application/json").body(bytes.clone());
            self.call::<Value>(request.header("idempotency-key", &queued.key))
        };
        let sent = match send(queued.project.as_deref()).await {
            Err(forbidden @ HubError::Forbidden(_))
                if queued.may_differ_with.as_ref() == Some(&self.address.fingerprint()) =>
            {
                match send(None).await {
                    // The token covers several other projects.
                    Err(HubError::Refused(_)) => Err(forbidden),
                    other => other,
                }
            }
            // A server without this route is not the hub, or an old one.
            Err(HubError::Missing(_)) => Err(HubError::Unreachable(NOT_A_HUB.to_owned())),
            other => other,
        };
        match sent? {
            reply if reply["exchange"].is_i64() => Ok(reply),
            _ => Err(HubError::Unreachable(NOT_A_HUB.to_owned())),
        }
    }

    /// Checks that the token is accepted, for a project or for all that it covers.
    ///
    /// # Errors
    ///
    /// Fails if the hub cannot be reached or refuses the token.
    pub async fn check(&self, project: Option<&str>) -> Result<(), HubError> {
        let request = self.request(Method::GET, "health", project).timeout(CHECK_TIMEOUT);
        match self.call::<Value>(request).await? {
            status if status["status"] == "ok" => Ok(()),
            _ => Err(HubError::Unreachable(NOT_A_HUB.to_owned())),
        }
    }

    /// Sends a question, and returns the reply of the route `recall`.
    pub(super) async fn recall<T: DeserializeOwned>(
        &self,
        question: &Value,
        project: Option<&str>,
    ) -> Result<T, HubError> {
        self.call(self.request(Method::POST, "recall", project).json(question)).await
    }

    /// Returns a document.
    pub(super) async fn document<T: DeserializeOwned>(
        &self,
        name: &str,
        project: Option<&str>,
    ) -> Result<T, HubError> {
        let mut url = self.path("documents");
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.push(name);
        }
        let request = self.client.request(Method::GET, url).timeout(TIMEOUT);
        self.call(with_project(request, project)).await
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
        with_project(self.client.request(method, self.path(path)).timeout(TIMEOUT), project)
    }

    async fn call<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, HubError> {
        let unreachable = |error: reqwest::Error| match error.is_connect() {
            true => HubError::Offline(describe(&error)),
            false => HubError::Unreachable(describe(&error)),
        };
        let response = request.bearer_auth(self.address.token()).send().await.map_err(unreachable)?;
        let status = response.status();
        if status.is_success() {
            let body = read(response, MAX_ANSWER).await.map_err(unreachable)?;
            return serde_json::from_slice(&body).map_err(|_| HubError::Unreachable(NOT_A_HUB.to_owned()));
        }
        let body = read(response, MAX_PROBLEM).await.unwrap_or_default();
        let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
        let Some(detail) = problem["detail"].as_str() else {
            // Something between this machine and the hub has answered.
            return Err(HubError::Unreachable(format!("it answered {status}")));
        };
        let detail: String = detail.chars().take(MAX_DETAIL).collect();
        Err(match status {
            StatusCode::UNAUTHORIZED => HubError::Unauthorized(detail),
            StatusCode::FORBIDDEN => HubError::Forbidden(detail),
            StatusCode::NOT_FOUND => HubError::Missing(detail),
            StatusCode::GONE => HubError::Gone(detail),
            StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::SERVICE_UNAVAILABLE => HubError::Unreachable(detail),
            StatusCode::REQUEST_TIMEOUT => HubError::Failed(detail),
            status if status.is_client_error() => HubError::Refused(detail),
            _ => HubError::Failed(detail),
        })
    }
}

/// Limits a request to a project.
fn with_project(request: RequestBuilder, project: Option<&str>) -> RequestBuilder {
    match project {
        Some(project) => request.query(&[("project", project)]),
        None => request,
    }
}

/// Reads an answer up to a limit. A longer one is cut off, and cannot be understood then.
async fn read(mut response: reqwest::Response, limit: usize) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > limit {
            body.truncate(limit);
            break;
        }
    }
    Ok(body)
}

/// Returns the innermost cause of an error, which says what happened. The outer ones repeat the address.
fn describe(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
