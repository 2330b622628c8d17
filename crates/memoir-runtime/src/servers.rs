//! Connects to the MCP servers of the config, whose tools are offered in addition to the built-in ones.
//!
//! Connecting happens in the background, so that startup does not wait. The first turn waits briefly for servers that
//! are not ready, then continues without them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use memoir_agent::{Observer, TurnEvent};
use memoir_mcp::{ConnectError, ServerConfig, connect};
use memoir_tools::{Tool, ToolSet, Variables};
use tokio::task::JoinHandle;

/// How long the first turn waits for servers that are not ready yet.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// A server whose connection is not established yet.
struct PendingServer {
    name: String,
    tools: JoinHandle<Result<Vec<Arc<dyn Tool>>, ConnectError>>,
    is_reported_late: bool,
}

/// The MCP servers of the config.
pub(crate) struct Servers {
    pending: Vec<PendingServer>,
    /// Tools of connected servers that are not in the tool set yet.
    new_tools: Vec<Arc<dyn Tool>>,
    /// How long the next turn waits. Zero after the first turn.
    time_limit: Duration,
}

impl Servers {
    /// Starts to connect to all servers.
    pub(crate) fn connect(servers: &BTreeMap<String, ServerConfig>, variables: &Variables) -> Self {
        let start = |(name, config): (&String, &ServerConfig)| {
            let (server, config, variables) = (name.clone(), config.clone(), variables.clone());
            let tools = tokio::spawn(async move { connect(&server, &config, variables.get()).await });
            PendingServer { name: name.clone(), tools, is_reported_late: false }
        };
        Self { pending: servers.iter().map(start).collect(), new_tools: Vec::new(), time_limit: MAX_WAIT }
    }

    /// Returns `tools` with the tools of all servers that are connected by now. Reports servers that failed or are late.
    pub(crate) async fn join(&mut self, tools: &Arc<ToolSet>, observer: Observer<'_>) -> Arc<ToolSet> {
        let mut notify = |notice: String| observer(TurnEvent::Notice(notice));
        if self.pending.is_empty() && self.new_tools.is_empty() {
            return Arc::clone(tools);
        }
        let deadline = tokio::time::Instant::now() + std::mem::take(&mut self.time_limit);
        let mut late = Vec::new();
        // A server stays in the list until its result is known, because this future may be dropped at any `await`.
        while let Some(server) = self.pending.last_mut() {
            let result = tokio::time::timeout_at(deadline, &mut server.tools).await;
            let Some(server) = self.pending.pop() else { break };
            match result {
                Ok(Ok(Ok(tools))) => self.new_tools.extend(tools),
                Ok(Ok(Err(reason))) => {
                    notify(format!("Could not connect to the MCP server {}: {reason}.", server.name));
                }
                Ok(Err(_)) => {
                    notify(format!(
                        "Could not connect to the MCP server {}: the connection crashed.",
                        server.name
                    ));
                }
                Err(_) => {
                    if !server.is_reported_late {
                        notify(format!(
                            "The MCP server {} is not ready yet. Its tools become available once it is.",
                            server.name
                        ));
                    }
                    late.push(PendingServer { is_reported_late: true, ..server });
                }
            }
        }
        self.pending = late;
        let new_tools = std::mem::take(&mut self.new_tools);
        Arc::new(new_tools.into_iter().fold(ToolSet::clone(tools), ToolSet::with))
    }
}
