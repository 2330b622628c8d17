//! What all requests share.

use memoir_runtime::{Runtime, view::MemoryView};
use memoir_serve::{mcp::HttpSessions, proxy::Proxy};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{
    browser::Browsers,
    events::Events,
    guard::{Hosts, Origin},
    limits::Limits,
    monitoring::Metrics,
};

/// What all requests share.
pub(crate) struct AppState {
    pub(crate) runtime: Runtime,
    /// The whole memory, which requests narrow to what their token covers.
    pub(crate) view: MemoryView,
    pub(crate) hosts: Hosts,
    pub(crate) origins: Vec<Origin>,
    /// `http` or `https`.
    pub(crate) scheme: &'static str,
    pub(crate) limits: Limits,
    /// One permit for each request that may be answered at the same time.
    pub(crate) permits: Semaphore,
    pub(crate) metrics: Metrics,
    pub(crate) sessions: HttpSessions,
    pub(crate) proxy: Proxy,
    pub(crate) events: Events,
    pub(crate) browsers: Browsers,
    /// Cancelled when the server stops. Streams that never end by themselves end then.
    pub(crate) shutdown: CancellationToken,
}

impl AppState {
    /// Returns whether clients reach the server with TLS.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.scheme == "https"
    }
}
