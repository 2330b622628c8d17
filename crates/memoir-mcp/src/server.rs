//! Reaching a server, and asking what it can do.

use std::{collections::BTreeMap, ffi::OsString, process::Stdio, sync::Arc, time::Duration};

use memoir_tools::{Tool, spawn_registered};
use rmcp::{
    RoleClient, ServiceExt as _,
    service::RunningService,
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde::Deserialize;
use tokio::process::Command;

use crate::tool::ServerTool;

/// How long a server may take until it is ready.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server, as the config names it: a command to start, or an address.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
}

/// What is spoken to.
pub(crate) type Service = Arc<RunningService<RoleClient, ()>>;

/// Connects to a server and gives its tools. `variables` is the environment of one that is started, besides what its own config adds.
pub async fn connect(
    name: &str,
    config: &ServerConfig,
    variables: &[(OsString, OsString)],
) -> Result<Vec<Arc<dyn Tool>>, String> {
    let ready = async {
        let service: Service = Arc::new(match (&config.command, &config.url) {
            (Some(command), None) => ().serve(start(command, config, variables)?).await.map_err(text)?,
            (None, Some(url)) => {
                ().serve(StreamableHttpClientTransport::from_uri(url.as_str())).await.map_err(text)?
            }
            _ => return Err("it needs either a command or a url".to_owned()),
        });
        let tools = service.list_all_tools().await.map_err(text)?;
        Ok(tools.into_iter().map(|tool| ServerTool::new(name, &service, tool)).collect())
    };
    tokio::time::timeout(PATIENCE, ready)
        .await
        .map_err(|_| format!("it was not ready after {} s", PATIENCE.as_secs()))?
}

fn start(
    command: &str,
    config: &ServerConfig,
    variables: &[(OsString, OsString)],
) -> Result<TokioChildProcess, String> {
    let mut program = Command::new(command);
    program
        .args(&config.args)
        .env_clear()
        .envs(variables.iter().cloned())
        .envs(&config.env)
        .kill_on_drop(true);
    // What a server says beside the protocol is nobody's business here.
    let start = || TokioChildProcess::builder(program).stderr(Stdio::null()).spawn();
    let (process, _) = spawn_registered(start, |(process, _)| process.id()).map_err(text)?;
    Ok(process)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
