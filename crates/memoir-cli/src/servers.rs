//! Servers of the config, whose tools are offered beside our own. They are reached in the background, so that nobody waits for
//! them at the start; a turn waits a while for those that are not ready, and goes on without them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anstream::eprintln;
use memoir_mcp::{ServerConfig, connect};
use memoir_tools::{Tool, ToolSet, Variables};
use tokio::task::JoinHandle;

use crate::printable::printable;

/// How long a turn waits for servers that are not ready yet.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server that is being reached.
struct Expected {
    name: String,
    tools: JoinHandle<Result<Vec<Arc<dyn Tool>>, String>>,
}

/// The servers of the config.
#[derive(Default)]
pub(crate) struct Servers {
    expected: Vec<Expected>,
}

impl Servers {
    /// Begins to reach them.
    pub(crate) fn reach(servers: &BTreeMap<String, ServerConfig>, variables: &Variables) -> Self {
        let expect = |(name, config): (&String, &ServerConfig)| {
            let (of, config, variables) = (name.clone(), config.clone(), variables.clone());
            let tools = tokio::spawn(async move { connect(&of, &config, variables.get()).await });
            Expected { name: name.clone(), tools }
        };
        Self { expected: servers.iter().map(expect).collect() }
    }

    /// The tools with those of servers that are ready now, or soon. What fails is said.
    pub(crate) async fn join(&mut self, tools: &Arc<ToolSet>) -> Arc<ToolSet> {
        if self.expected.is_empty() {
            return Arc::clone(tools);
        }
        let deadline = tokio::time::Instant::now() + PATIENCE;
        let mut joined = ToolSet::clone(tools);
        let mut late = Vec::new();
        for mut server in std::mem::take(&mut self.expected) {
            match tokio::time::timeout_at(deadline, &mut server.tools).await {
                Ok(Ok(Ok(tools))) => joined = tools.into_iter().fold(joined, ToolSet::with),
                Ok(Ok(Err(reason))) => {
                    eprintln!("The server {} is left out: {}.", server.name, printable(&reason));
                }
                Ok(Err(_)) => eprintln!("The server {} is left out: it crashed.", server.name),
                Err(_) => {
                    eprintln!(
                        "The server {} is not ready yet; its tools are offered when it is.",
                        server.name
                    );
                    late.push(server);
                }
            }
        }
        self.expected = late;
        Arc::new(joined)
    }
}
