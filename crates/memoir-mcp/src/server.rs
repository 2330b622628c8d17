//! Connecting to a server and listing its tools.

use std::{
    collections::BTreeMap, error::Error, ffi::OsString, io, pin::Pin, process::Stdio, sync::Arc,
    time::Duration,
};

use memoir_tools::{Tool, spawn_registered};
use rmcp::{
    ServiceError, ServiceExt as _,
    service::ClientInitializeError,
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde::Deserialize;
use tokio::process::Command;

use crate::tool::{ServerConnection, ServerTool};

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

/// Why the tools of a server cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The config names neither a command nor an address, or both.
    #[error("it needs either a command or a url")]
    Config,
    /// The command could not be started.
    #[error(transparent)]
    Start(#[from] io::Error),
    /// The server did not accept the connection, or did not list its tools.
    #[error(transparent)]
    Protocol(Box<dyn Error + Send + Sync>),
    /// The server took too long.
    #[error("it was not ready after {} s", .0.as_secs())]
    NotReady(Duration),
}

impl From<ClientInitializeError> for ConnectError {
    fn from(error: ClientInitializeError) -> Self {
        Self::Protocol(Box::new(error))
    }
}

impl From<ServiceError> for ConnectError {
    fn from(error: ServiceError) -> Self {
        Self::Protocol(Box::new(error))
    }
}

/// A connection that is being made. It is boxed, because every crate that awaits a plain future compiles it again, and this
/// one contains the whole protocol.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Vec<Arc<dyn Tool>>, ConnectError>> + Send + 'a>>;

/// Connects to a server and returns its tools. `variables` is the environment of a server that is started as a command; the
/// config of the server may add to it.
///
/// # Errors
///
/// Fails if the config is incomplete, the server cannot be started or reached, or it is not ready in time.
pub fn connect<'a>(
    name: &'a str,
    config: &'a ServerConfig,
    variables: &'a [(OsString, OsString)],
) -> Connecting<'a> {
    let ready = async move {
        let connection: ServerConnection = Arc::new(match (&config.command, &config.url) {
            (Some(command), None) => ().serve(start(command, config, variables)?).await?,
            (None, Some(url)) => ().serve(StreamableHttpClientTransport::from_uri(url.as_str())).await?,
            _ => return Err(ConnectError::Config),
        });
        let tools = connection.list_all_tools().await?;
        Ok(tools.into_iter().map(|tool| ServerTool::new(name, &connection, tool)).collect())
    };
    Box::pin(async move {
        tokio::time::timeout(PATIENCE, ready).await.map_err(|_| ConnectError::NotReady(PATIENCE))?
    })
}

fn start(
    command: &str,
    config: &ServerConfig,
    variables: &[(OsString, OsString)],
) -> io::Result<TokioChildProcess> {
    let mut program = Command::new(command);
    program
        .args(&config.args)
        .env_clear()
        .envs(variables.iter().cloned())
        .envs(&config.env)
        .kill_on_drop(true);
    // What a server writes to stderr is not part of the protocol.
    let start = || TokioChildProcess::builder(program).stderr(Stdio::null()).spawn();
    let (process, _) = spawn_registered(start, |(process, _)| process.id())?;
    Ok(process)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    async fn fail(config: &str) -> ConnectError {
        let config: ServerConfig = serde_json::from_str(config).unwrap();
        connect("files", &config, &[]).await.err().unwrap()
    }

    #[tokio::test]
    async fn a_wrong_config_and_a_missing_program_are_different_errors() {
        let both = r#"{"command": "true", "url": "http://127.0.0.1:9"}"#;
        for config in ["{}", both] {
            assert!(matches!(fail(config).await, ConnectError::Config), "{config}");
        }
        let missing = fail(r#"{"command": "/nonexistent/server"}"#).await;
        assert!(matches!(missing, ConnectError::Start(_)), "{missing}");
    }
}
