//! Connects to a server and lists its tools.

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

/// Time limit for connecting to a server and listing its tools.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// A server in the config: either a command to start or a URL.
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

/// Reason why a server's tools cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The config sets neither `command` nor `url`, or both.
    #[error("set either `command` or `url` in the config, not both")]
    Config,
    /// The command could not be started.
    #[error(transparent)]
    Start(#[from] io::Error),
    /// The server did not accept the connection, or did not list its tools.
    #[error(transparent)]
    Protocol(Box<dyn Error + Send + Sync>),
    /// The server did not become ready within this time.
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

/// The future returned by [`connect`]. It is boxed because every crate that awaits an unboxed future compiles it
/// again, and this one contains the whole protocol.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Vec<Arc<dyn Tool>>, ConnectError>> + Send + 'a>>;

/// Connects to a server and returns its tools. A server that is started as a command gets the environment
/// `variables`, plus the variables in its config.
///
/// # Errors
///
/// Fails if the config is incomplete, the server cannot be started or reached, or it is not ready in time.
pub fn connect<'a>(
    name: &'a str,
    config: &'a ServerConfig,
    variables: &'a [(OsString, OsString)],
) -> Connecting<'a> {
    let connecting = async move {
        let connection: ServerConnection = Arc::new(match (&config.command, &config.url) {
            (Some(command), None) => ().serve(start(command, config, variables)?).await?,
            (None, Some(url)) => ().serve(StreamableHttpClientTransport::from_uri(url.as_str())).await?,
            _ => return Err(ConnectError::Config),
        });
        let tools = connection.list_all_tools().await?;
        Ok(tools.into_iter().map(|tool| ServerTool::new(name, &connection, tool)).collect())
    };
    Box::pin(async move {
        tokio::time::timeout(CONNECT_TIMEOUT, connecting)
            .await
            .map_err(|_| ConnectError::NotReady(CONNECT_TIMEOUT))?
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
    // The protocol does not use stderr.
    let spawn = || TokioChildProcess::builder(program).stderr(Stdio::null()).spawn();
    let (process, _) = spawn_registered(spawn, |(process, _)| process.id())?;
    Ok(process)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    async fn connect_error(config: &str) -> ConnectError {
        let config: ServerConfig = serde_json::from_str(config).unwrap();
        connect("files", &config, &[]).await.err().unwrap()
    }

    #[tokio::test]
    async fn an_invalid_config_and_a_missing_program_are_different_errors() {
        let both = r#"{"command": "true", "url": "http://127.0.0.1:9"}"#;
        for config in ["{}", both] {
            assert!(matches!(connect_error(config).await, ConnectError::Config), "{config}");
        }
        let missing = connect_error(r#"{"command": "/nonexistent/server"}"#).await;
        assert!(matches!(missing, ConnectError::Start(_)), "{missing}");
    }
}
