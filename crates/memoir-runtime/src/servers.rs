//! Servers of the config, whose tools are offered beside our own. They are reached in the background, so that nobody waits for
//! them at the start; a turn waits a while for those that are not ready, and goes on without them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use memoir_agent::{Observer, TurnEvent};
use memoir_mcp::{ConnectError, ServerConfig, connect};
use memoir_tools::{Tool, ToolSet, Variables};
use tokio::task::JoinHandle;

/// How long a turn waits for servers that are not ready yet.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server that is being reached.
struct Expected {
    name: String,
    tools: JoinHandle<Result<Vec<Arc<dyn Tool>>, ConnectError>>,
    said_late: bool,
}

/// The servers of the config.
pub(crate) struct Servers {
    expected: Vec<Expected>,
    /// Tools that have come and are not offered yet.
    arrived: Vec<Arc<dyn Tool>>,
    /// How long they are waited for: the first time, and then no more.
    patience: Duration,
}

impl Servers {
    /// Begins to reach them.
    pub(crate) fn reach(servers: &BTreeMap<String, ServerConfig>, variables: &Variables) -> Self {
        let expect = |(name, config): (&String, &ServerConfig)| {
            let (of, config, variables) = (name.clone(), config.clone(), variables.clone());
            let tools = tokio::spawn(async move { connect(&of, &config, variables.get()).await });
            Expected { name: name.clone(), tools, said_late: false }
        };
        Self { expected: servers.iter().map(expect).collect(), arrived: Vec::new(), patience: PATIENCE }
    }

    /// The tools with those of servers that are ready now, or soon. What fails is said.
    pub(crate) async fn join(&mut self, tools: &Arc<ToolSet>, observer: Observer<'_>) -> Arc<ToolSet> {
        let mut notify = |notice: String| observer(TurnEvent::Notice(notice));
        if self.expected.is_empty() && self.arrived.is_empty() {
            return Arc::clone(tools);
        }
        let deadline = tokio::time::Instant::now() + std::mem::take(&mut self.patience);
        let mut late = Vec::new();
        // One at a time stays among them until it is known what came of it: a turn may be cancelled meanwhile.
        while let Some(server) = self.expected.last_mut() {
            let came = tokio::time::timeout_at(deadline, &mut server.tools).await;
            let Some(server) = self.expected.pop() else { break };
            match came {
                Ok(Ok(Ok(tools))) => self.arrived.extend(tools),
                Ok(Ok(Err(reason))) => {
                    notify(format!("The server {} is left out: {reason}.", server.name));
                }
                Ok(Err(_)) => notify(format!("The server {} is left out: it crashed.", server.name)),
                Err(_) => {
                    if !server.said_late {
                        notify(format!(
                            "The server {} is not ready yet; its tools are offered when it is.",
                            server.name
                        ));
                    }
                    late.push(Expected { said_late: true, ..server });
                }
            }
        }
        self.expected = late;
        let arrived = std::mem::take(&mut self.arrived);
        Arc::new(arrived.into_iter().fold(ToolSet::clone(tools), ToolSet::with))
    }
}
