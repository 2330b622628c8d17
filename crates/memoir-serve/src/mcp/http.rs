//! The server over HTTP. Who may connect is decided by the program that listens.

use std::{
    collections::HashMap,
    convert::Infallible,
    fmt::Display,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use memoir_core::{Right, lock};
use memoir_runtime::view::MemoryView;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio_util::sync::CancellationToken;

use super::handler::MemoryServer;

/// How long a session without calls lasts. Agents are idle overnight, and some do not open another session by themselves.
const SESSION_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Maximum size of a request.
const MAX_REQUEST_BYTES: usize = 1 << 20;

/// Number of clients from which on those without sessions are forgotten.
const MAX_IDLE_OWNERS: usize = 256;

/// A client that has been let in.
pub struct HttpClient {
    /// Identifies the client. Sessions belong to it, so that nobody continues those of others.
    pub owner: String,
    /// What the client may see.
    pub view: MemoryView,
    /// What it may do.
    pub rights: Vec<Right>,
}

/// The sessions of all clients. Those of the latest revision of the protocol have none.
pub struct HttpSessions {
    managers: Mutex<HashMap<String, Arc<LocalSessionManager>>>,
    shutdown: CancellationToken,
}

impl HttpSessions {
    /// Creates a server without sessions. They end when `shutdown` is cancelled.
    pub fn new(shutdown: CancellationToken) -> Self {
        Self { managers: Mutex::default(), shutdown }
    }

    /// Answers a request.
    pub async fn handle<B>(
        &self,
        client: HttpClient,
        request: Request<B>,
    ) -> Response<BoxBody<Bytes, Infallible>>
    where
        B: Body + Send + 'static,
        B::Error: Display,
    {
        let HttpClient { owner, view, rights } = client;
        let sessions = self.sessions_of(owner);
        let create = move || Ok(MemoryServer::new(view.clone(), rights.clone()));
        StreamableHttpService::new(create, sessions, self.config()).handle(request).await
    }

    fn sessions_of(&self, owner: String) -> Arc<LocalSessionManager> {
        let create = || {
            let mut manager = LocalSessionManager::default();
            manager.session_config.keep_alive = Some(SESSION_TIME);
            Arc::new(manager)
        };
        let mut managers = lock(&self.managers);
        if managers.len() >= MAX_IDLE_OWNERS && !managers.contains_key(&owner) {
            let has_sessions = |manager: &Arc<LocalSessionManager>| {
                // It is in use if it is locked.
                manager.sessions.try_read().map_or(true, |sessions| !sessions.is_empty())
            };
            managers.retain(|_, manager| has_sessions(manager));
        }
        Arc::clone(managers.entry(owner).or_insert_with(create))
    }

    /// Returns the configuration of the transport. The program that listens has already checked host and origin.
    fn config(&self) -> StreamableHttpServerConfig {
        StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(MAX_REQUEST_BYTES)
            .with_cancellation_token(self.shutdown.child_token())
    }
}
