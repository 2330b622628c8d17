//! A server of the config, which is kept connected: a server that ends or is absent is tried again, and its tools
//! disappear meanwhile.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use memoir_core::lock;
use rmcp::{model::SubscriptionFilter, service::Subscription};
use serde_json::{Map, Value};
use tokio::{sync::watch, task::JoinHandle, time::Instant};

use crate::{
    config::ServerConfig,
    connection::{Connection, Handshake, Reason, ServerOptions, get_prompt, read_resource},
    content::ServerContent,
    offers::{Offers, ServerPrompt, ServerResource},
    tool::ServerTool,
};

/// Interval at which a server that has ended is noticed.
const WATCH_INTERVAL: Duration = Duration::from_millis(500);

/// Wait before a server is tried again. It doubles with each failure.
const FIRST_WAIT: Duration = Duration::from_millis(500);

const MAX_WAIT: Duration = Duration::from_secs(60);

/// Revisions that are tried without a wait between them.
const HANDSHAKES: u32 = 3;

/// A server that has been connected for this long has started successfully.
const STABLE_TIME: Duration = Duration::from_secs(30);

/// Interval at which a server at an address is asked for its tools.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);

const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(10);

/// The connection to a server, while there is one.
pub(crate) type CurrentConnection = Arc<Mutex<Option<Arc<Connection>>>>;

/// The state of a server.
#[derive(Clone)]
pub enum ServerState {
    /// The first attempt to connect has not ended yet.
    Connecting,
    /// The server is connected.
    Ready(Arc<Offers>),
    /// The server is not connected, and will be tried again.
    Down {
        /// Why, as a sentence without its subject.
        reason: String,
    },
}

/// A server of the config.
pub struct Server {
    name: String,
    address: String,
    state: watch::Receiver<ServerState>,
    connection: CurrentConnection,
    supervisor: JoinHandle<()>,
}

impl Server {
    /// Starts to connect to a server. The address is for display.
    pub fn start(name: &str, address: &str, config: ServerConfig, options: ServerOptions) -> Self {
        let (sender, state) = watch::channel(ServerState::Connecting);
        let connection = CurrentConnection::default();
        let current = Arc::clone(&connection);
        let supervisor = Supervisor { name: name.to_owned(), config, options, state: sender, current };
        let supervisor = tokio::spawn(supervisor.run());
        Self { name: name.to_owned(), address: address.to_owned(), state, connection, supervisor }
    }

    /// A server that cannot be used.
    pub fn unusable(name: &str, address: &str, reason: String) -> Self {
        let (_, state) = watch::channel(ServerState::Down { reason });
        let (connection, supervisor) = (CurrentConnection::default(), tokio::spawn(async {}));
        Self { name: name.to_owned(), address: address.to_owned(), state, connection, supervisor }
    }

    /// Returns the name in the config.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the command or the address, as the config has it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the current state.
    pub fn state(&self) -> ServerState {
        self.state.borrow().clone()
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// Fails with a sentence without its subject.
    pub async fn read_resource(&self, uri: &str) -> Result<ServerContent, String> {
        let connection = lock(&self.connection).clone();
        read_resource(connection.as_deref(), uri).await
    }

    /// Fills in a prompt.
    ///
    /// # Errors
    ///
    /// Fails with a sentence without its subject.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<ServerContent, String> {
        let connection = lock(&self.connection).clone();
        get_prompt(connection.as_deref(), name, arguments).await
    }

    /// Waits until everything that the server offers has been listed, or it is not connected.
    pub async fn listed(&self) {
        let mut state = self.state.clone();
        let is_listed = |state: &ServerState| match state {
            ServerState::Connecting => false,
            ServerState::Ready(offers) => offers.is_complete,
            ServerState::Down { .. } => true,
        };
        // It fails only if there is no supervisor, and then nothing changes.
        let _ = state.wait_for(is_listed).await;
    }

    /// Waits until the first attempt to connect has ended.
    pub async fn settled(&self) {
        let mut state = self.state.clone();
        // It fails only if there is no supervisor, and then nothing changes.
        let _ = state.wait_for(|state| !matches!(state, ServerState::Connecting)).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.supervisor.abort();
    }
}

struct Supervisor {
    name: String,
    config: ServerConfig,
    options: ServerOptions,
    state: watch::Sender<ServerState>,
    /// The connection that calls use.
    current: CurrentConnection,
}

impl Supervisor {
    async fn run(self) {
        let mut handshake = Handshake::Either;
        let mut failures = 0;
        loop {
            match self.connect(handshake).await {
                Ok(connection) => {
                    let connected = Instant::now();
                    let reason = self.watch(connection).await;
                    *lock(&self.current) = None;
                    // A server that ends soon after its start is not started again and again.
                    let is_stable = connected.elapsed() >= STABLE_TIME;
                    failures = if is_stable { HANDSHAKES } else { failures.max(HANDSHAKES - 1) + 1 };
                    tracing::warn!(server = self.name, reason, "an MCP server has gone");
                    self.state.send_replace(ServerState::Down { reason });
                }
                Err(reason) => {
                    failures += 1;
                    handshake = handshake.next();
                    if failures < HANDSHAKES {
                        continue;
                    }
                    tracing::debug!(
                        server = self.name,
                        reason,
                        failures,
                        "could not connect to an MCP server"
                    );
                    self.state.send_replace(ServerState::Down { reason });
                }
            }
            let doublings = failures.saturating_sub(HANDSHAKES).min(10);
            tokio::time::sleep((FIRST_WAIT * 2_u32.pow(doublings)).min(MAX_WAIT)).await;
        }
    }

    async fn connect(&self, handshake: Handshake) -> Result<Arc<Connection>, Reason> {
        let connection = Connection::open(&self.name, &self.config, &self.options, handshake).await?;
        let connection = Arc::new(connection);
        self.list_offers(&connection).await?;
        Ok(connection)
    }

    async fn list_offers(&self, connection: &Arc<Connection>) -> Result<(), Reason> {
        let tools = connection.list_tools().await?;
        let (prompts, resources) = match &*self.state.borrow() {
            ServerState::Ready(before) => (before.prompts.clone(), before.resources.clone()),
            _ => Default::default(),
        };
        let mut offers = Offers {
            tools: ServerTool::all(&self.name, &self.current, tools, connection.has_resources()),
            prompts,
            resources,
            revision: connection.revision(),
            is_complete: false,
        };
        *lock(&self.current) = Some(Arc::clone(connection));
        self.state.send_replace(ServerState::Ready(Arc::new(offers.clone())));
        let (prompts, resources) = tokio::join!(connection.list_prompts(), connection.list_resources());
        let skip = |reason: Reason| {
            // The tools may still be useful.
            tracing::debug!(server = self.name, reason, "could not list what an MCP server offers to users");
        };
        match prompts {
            Ok(prompts) => offers.prompts = ServerPrompt::all(prompts),
            Err(reason) => skip(reason),
        }
        match resources {
            Ok(resources) => offers.resources = ServerResource::all(resources),
            Err(reason) => skip(reason),
        }
        offers.is_complete = true;
        self.state.send_replace(ServerState::Ready(Arc::new(offers)));
        Ok(())
    }

    /// Keeps the lists up to date until the server has gone. Returns the reason.
    async fn watch(&self, connection: Arc<Connection>) -> Reason {
        let mut changes = subscribe(&connection).await;
        let mut checked = Instant::now();
        loop {
            let change = async {
                match &mut changes {
                    Some(subscription) => subscription.next().await.ok().flatten().is_some(),
                    None => std::future::pending().await,
                }
            };
            let has_changed = tokio::select! {
                is_change = change => {
                    if !is_change {
                        changes = None;
                    }
                    is_change
                }
                () = connection.changed.notified() => true,
                () = tokio::time::sleep(WATCH_INTERVAL) => false,
                () = connection.lost.notified() => return connection.last_lines.explain("it does not answer").await,
            };
            if connection.is_closed() {
                return connection.last_lines.explain("it has ended").await;
            }
            // Nothing reports the end of a server at an address.
            let is_due = !connection.is_process() && checked.elapsed() >= CHECK_INTERVAL;
            if has_changed || is_due {
                checked = Instant::now();
                if let Err(reason) = self.list_offers(&connection).await {
                    return reason;
                }
            }
        }
    }
}

/// Subscribes to changes of the lists. Servers of the older revisions report them without being asked.
async fn subscribe(connection: &Connection) -> Option<Subscription> {
    if !connection.needs_subscription() {
        return None;
    }
    let filter = SubscriptionFilter::builder()
        .tools_list_changed()
        .prompts_list_changed()
        .resources_list_changed()
        .build();
    tokio::time::timeout(SUBSCRIBE_TIMEOUT, connection.service().listen(filter)).await.ok()?.ok()
}
