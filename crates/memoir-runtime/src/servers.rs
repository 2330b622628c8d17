//! Connects to the MCP servers of the config, whose tools are offered in addition to the built-in ones.
//!
//! Connecting happens in the background, so that neither startup nor a turn waits, unless the user asks for a server.

use std::{
    collections::{BTreeSet, HashSet},
    path::Path,
    sync::Arc,
    time::Duration,
};

use memoir_agent::{Observer, TurnEvent};
use memoir_mcp::{Questions, Server, ServerConfig, ServerOptions, ServerState, qualify_name};
use memoir_tools::ToolSet;

use crate::{
    failure::Failure,
    models::Models,
    operations::servers::{ServerList, ServerReport, unknown},
    server_offers::ServerOffers,
    tools,
};

/// How long a turn waits for the servers that the user has asked for.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Stands for the names of all servers.
const ALL: &str = "all";

/// The MCP servers of the config.
pub(crate) struct Servers {
    servers: Arc<Vec<Server>>,
    /// Asks the user what servers want to know.
    pub(crate) questions: Questions,
    /// Names of the servers for which the first turn waits.
    awaited: BTreeSet<String>,
    /// Names of the servers whose absence has been reported, and the kind of absence.
    reported: HashSet<(String, &'static str)>,
}

impl Servers {
    /// Starts to connect to the servers of the config that are wanted.
    pub(crate) fn connect(models: &Models, project: &Path, is_wanted: impl Fn(&str) -> bool) -> Self {
        let environment = &models.environment;
        let variables = tools::command_variables(models);
        let questions = Questions::default();
        let options = || ServerOptions {
            variables: variables.get().to_vec(),
            workspace: project.to_owned(),
            questions: questions.clone(),
        };
        // A project must not get at keys.
        let without_keys = |name: &str| {
            let (_, value) = variables.get().iter().find(|(other, _)| other == name)?;
            value.to_str().map(str::to_owned)
        };
        let start = |(name, config): (&String, &ServerConfig)| {
            let expanded = match models.config.project_servers.contains(name) {
                true => config.expand(without_keys),
                false => config.expand(|name| environment.variable(name).map(str::to_owned)),
            };
            match expanded {
                Ok(expanded) => Server::start(name, &config.address(), expanded, options()),
                Err(missing) => Server::unusable(name, &config.address(), missing.to_string()),
            }
        };
        let servers: Vec<Server> =
            models.config.mcp.iter().filter(|(name, _)| is_wanted(name)).map(start).collect();
        Self { servers: Arc::new(servers), questions, awaited: BTreeSet::new(), reported: HashSet::new() }
    }

    /// Makes the first turn wait for these servers, or for all of them.
    ///
    /// # Errors
    ///
    /// Fails if there is no server with one of these names.
    pub(crate) fn wait_for(&mut self, names: Vec<String>) -> Result<(), Failure> {
        let is_known =
            |name: &&String| *name == ALL || self.servers.iter().any(|server| server.name() == *name);
        if let Some(name) = names.iter().find(|name| !is_known(name)) {
            return Err(unknown(name));
        }
        match names.iter().any(|name| name == ALL) {
            true => self.awaited.extend(self.servers.iter().map(|server| server.name().to_owned())),
            false => self.awaited.extend(names),
        }
        Ok(())
    }

    /// Makes the first turn wait for the servers whose tools these rules name.
    pub(crate) fn wait_for_tools(&mut self, rules: impl Iterator<Item = String>) {
        let rules: Vec<String> = rules.collect();
        let is_named = |server: &&Server| {
            let prefix = qualify_name(server.name(), "");
            rules.iter().any(|rule| rule.starts_with(&prefix))
        };
        self.awaited.extend(self.servers.iter().filter(is_named).map(|server| server.name().to_owned()));
    }

    /// Waits until the first attempt to connect to each of these servers has ended.
    pub(crate) async fn settle(&self, is_wanted: impl Fn(&str) -> bool) {
        let servers = self.servers.iter().filter(|server| is_wanted(server.name()));
        let settling = futures::future::join_all(servers.map(Server::settled));
        if tokio::time::timeout(MAX_WAIT, settling).await.is_err() {
            tracing::debug!("a server is not ready in time");
        }
    }

    /// Waits until all servers have listed what they offer.
    pub(crate) async fn list(&self) {
        let listing = futures::future::join_all(self.servers.iter().map(Server::listed));
        if tokio::time::timeout(MAX_WAIT, listing).await.is_err() {
            tracing::debug!("a server has not listed everything in time");
        }
    }

    /// Returns what the servers offer to the user.
    pub(crate) fn offers(&self) -> ServerOffers {
        ServerOffers::new(&self.servers)
    }

    /// Returns the state of each server.
    pub(crate) fn report(&self) -> ServerList {
        let report = |server: &Server| {
            let (offers, problem) = match server.state() {
                ServerState::Connecting => (None, Some("it is not ready yet".to_owned())),
                ServerState::Ready(offers) => (Some(offers), None),
                ServerState::Down { reason } => (None, Some(reason)),
            };
            let offers = offers.as_deref();
            let (tools, prompts, resources) = offers.map_or_else(Default::default, |offers| {
                (
                    offers.tools.iter().map(|tool| tool.spec().name.into_owned()).collect(),
                    offers.prompts.iter().map(|prompt| prompt.name.clone()).collect(),
                    offers.resources.iter().map(|resource| resource.uri.clone()).collect(),
                )
            });
            ServerReport {
                name: server.name().to_owned(),
                address: server.address().to_owned(),
                is_connected: offers.is_some(),
                revision: offers.map(|offers| offers.revision.clone()),
                tools,
                prompts,
                resources,
                problem,
            }
        };
        ServerList { servers: self.servers.iter().map(report).collect() }
    }

    /// Returns `tools` with the tools of all servers that are connected now. Reports servers that are not.
    pub(crate) async fn join(&mut self, tools: &ToolSet, observer: Observer<'_>) -> Arc<ToolSet> {
        let awaited = std::mem::take(&mut self.awaited);
        self.settle(|name| awaited.contains(name)).await;
        let mut joined = tools.clone();
        for server in self.servers.iter() {
            let name = server.name();
            let (kind, problem) = match server.state() {
                ServerState::Ready(offers) => {
                    self.reported.retain(|(other, _)| other != name);
                    joined = offers.tools.iter().cloned().fold(joined, ToolSet::with);
                    continue;
                }
                ServerState::Connecting => (
                    "late",
                    format!("The MCP server {name} is not ready yet. Its tools become available once it is."),
                ),
                ServerState::Down { reason } => {
                    ("down", format!("The MCP server {name} is not connected: {reason}."))
                }
            };
            if self.reported.insert((name.to_owned(), kind)) {
                observer(TurnEvent::Notice(problem));
            }
        }
        Arc::new(joined)
    }
}
