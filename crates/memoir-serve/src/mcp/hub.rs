//! An MCP server for the memory of another machine, the hub. It offers the same tools as the hub itself. While the hub
//! cannot be reached, statements are kept on this machine and sent later, in their order and once.

use std::{sync::Arc, time::Duration};

use memoir_core::ExchangeId;
use memoir_redact::without_secrets;
use memoir_runtime::{
    Failure,
    home::Home,
    hub::{Hub, HubAddress, HubError, QueuedRequest},
    view::ItemId,
};
use rmcp::{
    ClientServiceExt as _, ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
        ServerConfig, Tool,
    },
    service::{ClientLifecycleMode, RequestContext, RunningService, ServerInitializeError, ServiceError},
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde::Deserialize;
use serde_json::json;
use tokio::{io::AsyncWrite, sync::Mutex};

use super::{
    failed,
    forget::{Consent, Question, ask},
    handler::{list_prompts, list_resource_templates, list_tools, no_such_tool, program_of, server_config},
    results::{ForgetResult, QuotationResult, RememberResult},
    tools::{ForgetArguments, RememberArguments, ToolName, parse, to_error, to_result},
};
use crate::quote::NOTICE;

/// Time between two attempts to send what waits.
const INTERVAL: Duration = Duration::from_secs(15);

/// Time limit for opening a connection to the hub's MCP server.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A connection to the hub's MCP server.
type Connection = RunningService<RoleClient, ()>;

/// The answer to a statement.
#[derive(Debug, Clone, Deserialize)]
struct StatementReply {
    exchange: i64,
    #[serde(default)]
    supersedes: Vec<Superseded>,
}

/// A statement that another contradicts.
#[derive(Debug, Clone, Deserialize)]
struct Superseded {
    text: String,
    exchange: Option<i64>,
    document: Option<String>,
    date: Option<String>,
}

/// Serves the memory of a hub over stdin and stdout until the client closes them.
///
/// # Errors
///
/// Fails if the client does not speak the protocol.
pub async fn serve_hub(
    address: HubAddress,
    home: &Home,
    stdout: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), Failure> {
    let hub = Arc::new(Hub::new(address, home)?);
    let sender = tokio::spawn(send_regularly(Arc::clone(&hub)));
    let server = HubServer { hub, connection: Mutex::default() };
    let result = match server.serve((tokio::io::stdin(), stdout)).await {
        Ok(service) => service.waiting().await.map(drop).map_err(|error| failed(&error)),
        // The client ended before it asked for anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(failed(&error)),
    };
    sender.abort();
    result
}

async fn send_regularly(hub: Arc<Hub>) {
    loop {
        match hub.send_queue().await {
            Ok(sent) => {
                if let Some(error) = sent.obstacle {
                    tracing::debug!(?error, "statements still wait for the hub");
                }
            }
            Err(failure) => tracing::warn!(reason = failure.message, "could not send what waits for the hub"),
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Answers a client with what the hub knows.
struct HubServer {
    hub: Arc<Hub>,
    connection: Mutex<Option<Arc<Connection>>>,
}

impl HubServer {
    /// Returns the open connection to the hub's MCP server, or opens one.
    async fn connect(&self) -> Result<Arc<Connection>, HubError> {
        let mut connection = self.connection.lock().await;
        if let Some(connection) = connection.as_ref().filter(|connection| !connection.is_closed()) {
            return Ok(Arc::clone(connection));
        }
        let address = self.hub.address();
        // A wrong token, for example, has a better description here.
        self.hub.check(address.project()).await?;
        let config = StreamableHttpClientTransportConfig::with_uri(address.mcp_url().as_str())
            .auth_header(address.token().to_owned());
        let mode = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
        let transport = StreamableHttpClientTransport::with_client(self.hub.client().clone(), config);
        let opening = ().serve_with_lifecycle(transport, mode);
        let opened = tokio::time::timeout(TIMEOUT, opening).await;
        let opened = opened.map_err(|_| HubError::Unreachable("it does not answer".to_owned()))?;
        let opened = Arc::new(opened.map_err(|error| HubError::Unreachable(error.to_string()))?);
        *connection = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// Forgets the connection after an error that may be its fault, and describes the error.
    async fn disconnect(&self, error: &ServiceError) -> HubError {
        *self.connection.lock().await = None;
        HubError::Unreachable(error.to_string())
    }

    /// Passes a call on to the hub.
    async fn forward(&self, request: CallToolRequestParams) -> Result<CallToolResponse, Failure> {
        let connection = self.connect().await?;
        match connection.call_tool_once(request).await {
            Ok(response) => Ok(response),
            Err(error) => Err(self.disconnect(&error).await.into()),
        }
    }

    async fn remember(
        &self,
        arguments: RememberArguments,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Failure> {
        let body = json!({
            // The hub would remove them, too, but they would have been sent.
            "statement": without_secrets(&arguments.statement),
            "shared": arguments.is_shared(),
            "program": program_of(context),
        });
        let project = self.hub.address().project().map(str::to_owned);
        let request = QueuedRequest::new("statements", project, body)?;
        let (reply, obstacle) = self.hub.submit(&request).await?;
        let result = match reply.map(serde_json::from_value::<StatementReply>) {
            Some(reply) => {
                let reply =
                    reply.map_err(|error| Failure::failed(format!("the hub answers oddly: {error}")))?;
                RememberResult {
                    id: item(reply.exchange),
                    notice: NOTICE,
                    supersedes: reply.supersedes.into_iter().map(quote).collect(),
                    waits: None,
                }
            }
            None => RememberResult {
                id: format!("waiting-{}", request.key),
                notice: NOTICE,
                supersedes: Vec::new(),
                waits: Some(describe_waiting(obstacle)),
            },
        };
        Ok(to_result(&result)?.into())
    }

    async fn forget(
        &self,
        arguments: ForgetArguments,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Failure> {
        let (mut exchanges, mut conversations, mut documents) = (Vec::new(), Vec::new(), Vec::new());
        for id in arguments.items()? {
            match id {
                ItemId::Exchange(id) => exchanges.push(id.get()),
                ItemId::Conversation(id) => conversations.push(id.get()),
                ItemId::Document(name) => documents.push(name),
            }
        }
        let selection =
            json!({"exchanges": exchanges, "conversations": conversations, "documents": documents});
        let project = self.hub.address().project();
        let preview = self.hub.preview_forgetting(&selection, project).await?;
        let question = Question {
            items: &preview.items,
            messages: preview.messages,
            documents: preview.documents,
            fingerprint: preview.plan.clone(),
        };
        Ok(match ask(&question, request, context).await? {
            Consent::Unasked(question) => question.into(),
            Consent::Refused => {
                to_result(&ForgetResult { forgotten: false, messages: 0, documents: 0 })?.into()
            }
            Consent::Given => {
                let reply = self.hub.forget(&selection, &preview.plan, project).await?;
                let (messages, documents) = (reply.messages, reply.documents);
                to_result(&ForgetResult { forgotten: true, messages, documents })?.into()
            }
        })
    }

    /// Returns the error of a request that only the hub can answer.
    fn unavailable(error: HubError) -> ErrorData {
        ErrorData::internal_error(Failure::from(error).sentence(), None)
    }
}

/// Returns the id of an exchange, as tools use it.
fn item(exchange: i64) -> String {
    ItemId::Exchange(ExchangeId::new(exchange)).to_string()
}

fn quote(superseded: Superseded) -> QuotationResult {
    let id = match (superseded.exchange, superseded.document) {
        (Some(exchange), _) => Some(item(exchange)),
        (None, Some(name)) => Some(ItemId::Document(name).to_string()),
        (None, None) => None,
    };
    QuotationResult::new(id, superseded.date, &superseded.text)
}

/// Says that a statement waits, and why.
fn describe_waiting(obstacle: Option<HubError>) -> String {
    let reason = match obstacle {
        Some(error) => Failure::from(error).message,
        None => "another process is sending".to_owned(),
    };
    format!("The statement is stored on this machine and will be sent to the hub later, because {reason}.")
}

impl ServerHandler for HubServer {
    fn get_info(&self) -> ServerConfig {
        server_config()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(list_tools(ToolName::ALL.into_iter()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        ToolName::parse(name).map(ToolName::define)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = ToolName::parse(&request.name).ok_or_else(|| no_such_tool(&request.name))?;
        let result = match tool {
            ToolName::Remember => match parse(request.arguments.as_ref()) {
                Ok(arguments) => self.remember(arguments, &context).await,
                Err(failure) => Err(failure),
            },
            ToolName::Forget => match parse(request.arguments.as_ref()) {
                Ok(arguments) => self.forget(arguments, &request, &context).await,
                Err(failure) => Err(failure),
            },
            ToolName::Recall
            | ToolName::Search
            | ToolName::Fetch
            | ToolName::Conversations
            | ToolName::Why => self.forward(request).await,
        };
        Ok(result.unwrap_or_else(|failure| to_error(&failure).into()))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let connection = self.connect().await.map_err(Self::unavailable)?;
        connection
            .list_resources(request)
            .await
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(list_resource_templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let connection = self.connect().await.map_err(Self::unavailable)?;
        let read = connection.read_resource_once(request).await;
        read.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(list_prompts())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let connection = self.connect().await.map_err(Self::unavailable)?;
        let prompt = connection.get_prompt_once(request).await;
        prompt.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}
