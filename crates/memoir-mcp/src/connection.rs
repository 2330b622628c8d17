//! Connects to a server, in whichever revision of the protocol it supports.

use std::{
    collections::HashMap, ffi::OsString, io, path::PathBuf, process::Stdio, sync::Arc, time::Duration,
};

use memoir_tools::{RegisteredGroup, spawn_registered};
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::{
    ClientServiceExt as _, RoleClient,
    model::{
        CallToolRequestParams, CallToolResult, GetPromptRequestParams, Prompt, ProtocolVersion,
        ReadResourceRequestParams, Resource, ServerCapabilities, Tool,
    },
    service::{ClientCacheConfig, ClientLifecycleMode, RunningService},
    transport::{
        StreamableHttpClientTransport, TokioChildProcess,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::{Map, Value};
use tokio::{process::Command, sync::Notify};

use crate::{
    client::Client,
    config::{HttpTransport, ServerConfig},
    content::ServerContent,
    failure::{describe_request, describe_start},
    progress::Progress,
    question::Questions,
    stderr::LastLines,
};

/// Time limit for connecting to a server. A server that takes longer, perhaps because its first start downloads it, is
/// tried again.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(18);

/// What servers are started with.
#[derive(Clone)]
pub struct ServerOptions {
    /// Environment variables of servers that are started as a command, besides those in their config.
    pub variables: Vec<(OsString, OsString)>,
    /// The project.
    pub workspace: PathBuf,
    /// Asks the user what servers want to know.
    pub questions: Questions,
}

/// How a connection begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// Try the current revision, then an older one. A server that starts slowly understands neither.
    Either,
    /// Older revisions only.
    Older,
    /// The current revision only.
    Current,
}

impl Handshake {
    /// Returns what to try after this one has failed.
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Either => Self::Older,
            Self::Older => Self::Current,
            Self::Current => Self::Either,
        }
    }

    fn mode(self) -> ClientLifecycleMode {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        match self {
            Self::Either => ClientLifecycleMode::Auto {
                preferred_versions,
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
            Self::Older => ClientLifecycleMode::Initialize,
            Self::Current => ClientLifecycleMode::Discover { preferred_versions },
        }
    }
}

/// A connection to a server.
pub(crate) struct Connection {
    service: RunningService<RoleClient, Client>,
    /// The processes of a server that was started as a command. They end with the connection.
    processes: Option<RegisteredGroup>,
    pub(crate) call_timeout: Duration,
    pub(crate) last_lines: LastLines,
    pub(crate) changed: Arc<Notify>,
    pub(crate) progress: Progress,
    /// Notified when a call found that the server has gone.
    pub(crate) lost: Notify,
    pub(crate) questions: Questions,
}

/// Why a connection failed, as a sentence without its subject.
pub(crate) type Reason = String;

impl Connection {
    /// Connects to a server.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be started or reached, or is not ready in time.
    pub(crate) async fn open(
        name: &str,
        config: &ServerConfig,
        options: &ServerOptions,
        handshake: Handshake,
    ) -> Result<Self, Reason> {
        let (changed, progress) = (Arc::new(Notify::new()), Progress::default());
        let client = Client {
            server: name.to_owned(),
            workspace: options.workspace.clone(),
            questions: options.questions.clone(),
            changed: Arc::clone(&changed),
            progress: progress.clone(),
        };
        let last_lines = LastLines::default();
        let mut processes = None;
        let connecting = async {
            match (&config.command, &config.url) {
                (Some(command), None) => {
                    let (process, group) = start(name, command, config, options, &last_lines)
                        .map_err(|error| describe_program(command, &error))?;
                    processes = Some(group);
                    let service = client.serve_with_lifecycle(process, handshake.mode()).await;
                    service.map_err(|error| describe_start(&error))
                }
                (None, Some(url)) if config.transport == HttpTransport::Sse => {
                    let headers = headers(config)?.into_iter().collect();
                    let transport = crate::sse::connect(url, headers).await?;
                    // The oldest revision has this transport.
                    let service = client.serve_with_lifecycle(transport, Handshake::Older.mode()).await;
                    service.map_err(|error| describe_start(&error))
                }
                (None, Some(url)) => {
                    let transport = StreamableHttpClientTransport::from_config(
                        StreamableHttpClientTransportConfig::with_uri(url.as_str())
                            .custom_headers(headers(config)?),
                    );
                    let service = client.serve_with_lifecycle(transport, handshake.mode()).await;
                    service.map_err(|error| describe_start(&error))
                }
                _ => Err("set either `command` or `url` in the config, not both".to_owned()),
            }
        };
        let service = tokio::time::timeout(CONNECT_TIMEOUT, connecting)
            .await
            .unwrap_or_else(|_| Err(format!("it was not ready after {} s", CONNECT_TIMEOUT.as_secs())));
        let service = match service {
            Ok(service) => service,
            Err(reason) => return Err(last_lines.explain(&reason).await),
        };
        // Tools that the server no longer lists must disappear.
        service
            .set_response_cache_config(ClientCacheConfig::default().with_serve_stale_on_error(false))
            .await;
        Ok(Self {
            service,
            processes,
            call_timeout: config.call_timeout(),
            last_lines,
            changed,
            progress,
            lost: Notify::new(),
            questions: options.questions.clone(),
        })
    }

    /// Returns the server's tools.
    pub(crate) async fn list_tools(&self) -> Result<Vec<Tool>, Reason> {
        match self.list(self.service.list_all_tools()).await {
            // A server may have nothing but prompts or resources.
            Err(_) if !self.has(|offers| offers.tools.is_some()) && !self.is_closed() => Ok(Vec::new()),
            tools => tools,
        }
    }

    /// Returns the server's prompts.
    pub(crate) async fn list_prompts(&self) -> Result<Vec<Prompt>, Reason> {
        match self.has(|offers| offers.prompts.is_some()) {
            true => self.list(self.service.list_all_prompts()).await,
            false => Ok(Vec::new()),
        }
    }

    /// Returns the server's resources.
    pub(crate) async fn list_resources(&self) -> Result<Vec<Resource>, Reason> {
        match self.has_resources() {
            true => self.list(self.service.list_all_resources()).await,
            false => Ok(Vec::new()),
        }
    }

    /// Returns whether the server has resources, which it may not list.
    pub(crate) fn has_resources(&self) -> bool {
        self.has(|offers| offers.resources.is_some())
    }

    fn has(&self, capability: impl Fn(&ServerCapabilities) -> bool) -> bool {
        self.service.peer_info().is_some_and(|info| capability(&info.capabilities))
    }

    async fn list<T>(
        &self,
        listing: impl Future<Output = Result<Vec<T>, rmcp::ServiceError>>,
    ) -> Result<Vec<T>, Reason> {
        let listing = tokio::time::timeout(CONNECT_TIMEOUT, listing);
        match listing.await.map_err(|_| "it did not list what it offers in time".to_owned())? {
            Ok(list) => Ok(list),
            Err(error) => Err(self.last_lines.explain(&describe_request(&error)).await),
        }
    }

    /// Waits for the answer to a request, for as long as a call may take.
    async fn finish<T>(
        &self,
        request: impl Future<Output = Result<T, rmcp::ServiceError>>,
    ) -> Result<T, Reason> {
        match tokio::time::timeout(self.call_timeout, request).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(describe_request(&error)),
            Err(_) => Err(format!("it did not answer within {} s", self.call_timeout.as_secs())),
        }
    }

    /// Calls a tool. If the future is dropped, the server is told to cancel the call.
    pub(crate) async fn call_tool(
        &self,
        request: CallToolRequestParams,
    ) -> Result<CallToolResult, rmcp::ServiceError> {
        self.service.call_tool(request).await
    }

    /// Returns whether the server has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_transport_closed()
    }

    /// Returns whether the server must be asked for notifications, because it has the current revision.
    pub(crate) fn needs_subscription(&self) -> bool {
        let info = self.service.peer_info();
        info.is_some_and(|info| info.protocol_version >= ProtocolVersion::V_2026_07_28)
    }

    /// Returns whether the server was started as a command, so that its end is noticed.
    pub(crate) fn is_process(&self) -> bool {
        self.processes.is_some()
    }

    /// Returns the revision of the protocol.
    pub(crate) fn revision(&self) -> String {
        self.service.peer_info().map(|info| info.protocol_version.to_string()).unwrap_or_default()
    }

    pub(crate) fn service(&self) -> &RunningService<RoleClient, Client> {
        &self.service
    }
}

/// Reads a resource of a server.
pub(crate) async fn read_resource(
    connection: Option<&Connection>,
    uri: &str,
) -> Result<ServerContent, Reason> {
    let connection = connection.ok_or_else(not_connected)?;
    let request = ReadResourceRequestParams::new(uri);
    let result = connection.finish(connection.service.read_resource(request)).await?;
    Ok(ServerContent::from(&result))
}

/// Fills in a prompt of a server.
pub(crate) async fn get_prompt(
    connection: Option<&Connection>,
    name: &str,
    arguments: Map<String, Value>,
) -> Result<ServerContent, Reason> {
    let connection = connection.ok_or_else(not_connected)?;
    let request = GetPromptRequestParams::new(name).with_arguments(arguments);
    let result = connection.finish(connection.service.get_prompt(request)).await?;
    Ok(ServerContent::from(&result))
}

fn not_connected() -> Reason {
    "it is not connected now".to_owned()
}

fn start(
    name: &str,
    command: &str,
    config: &ServerConfig,
    options: &ServerOptions,
    last_lines: &LastLines,
) -> io::Result<(TokioChildProcess, RegisteredGroup)> {
    let mut program = Command::new(command);
    program
        .args(&config.args)
        .env_clear()
        .envs(options.variables.iter().cloned())
        .envs(&config.env)
        .current_dir(config.cwd.as_ref().map_or(options.workspace.clone(), |cwd| options.workspace.join(cwd)))
        // A signal from the terminal is for Memoir only.
        .process_group(0)
        .kill_on_drop(true);
    let spawn = || TokioChildProcess::builder(program).stderr(Stdio::piped()).spawn();
    let (process, stderr) = spawn_registered(spawn, |(process, _)| process.id())?;
    if let Some(stderr) = stderr {
        last_lines.collect(name, stderr);
    }
    let group = RegisteredGroup::new(process.id());
    Ok((process, group))
}

fn describe_program(command: &str, error: &io::Error) -> Reason {
    match error.kind() {
        io::ErrorKind::NotFound => format!("the program {command} was not found"),
        _ => format!("the program {command} cannot be started: {error}"),
    }
}

fn headers(config: &ServerConfig) -> Result<HashMap<HeaderName, HeaderValue>, Reason> {
    let header = |(name, value): (&String, &String)| {
        let invalid = || format!("the header {name} in the config is invalid");
        let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| invalid())?;
        value.set_sensitive(true);
        Ok((parsed, value))
    };
    config.headers.iter().map(header).collect()
}
