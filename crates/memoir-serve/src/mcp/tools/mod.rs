//! The tools, one file each.

mod conversations;
mod fetch;
mod forget;
mod recall;
mod remember;
mod search;
mod why;

use memoir_core::Right;
use memoir_runtime::Failure;
use rmcp::{
    RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool,
        ToolAnnotations,
    },
    schemars::JsonSchema,
    service::RequestContext,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::handler::MemoryServer;

pub(super) use forget::Arguments as ForgetArguments;
pub(super) use remember::Arguments as RememberArguments;

/// Maximum size of the arguments of a call, as JSON.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolName {
    Recall,
    Remember,
    Search,
    Fetch,
    Conversations,
    Forget,
    Why,
}

impl ToolName {
    /// All tools, in the order in which they are listed. It stays the same, so that clients can cache their requests.
    pub(super) const ALL: [Self; 7] = [
        Self::Recall,
        Self::Remember,
        Self::Search,
        Self::Fetch,
        Self::Conversations,
        Self::Forget,
        Self::Why,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::Remember => "remember",
            Self::Search => "search",
            Self::Fetch => "fetch",
            Self::Conversations => "conversations",
            Self::Forget => "forget",
            Self::Why => "why",
        }
    }

    /// Returns the tool with this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }

    /// Returns the right that a client needs.
    pub(super) const fn right(self) -> Right {
        match self {
            Self::Recall | Self::Search | Self::Fetch | Self::Conversations | Self::Why => Right::Read,
            Self::Remember => Right::Write,
            Self::Forget => Right::Forget,
        }
    }

    /// Returns the definition that clients read.
    pub(super) fn define(self) -> Tool {
        match self {
            Self::Recall => recall::define(self.as_str()),
            Self::Remember => remember::define(self.as_str()),
            Self::Search => search::define(self.as_str()),
            Self::Fetch => fetch::define(self.as_str()),
            Self::Conversations => conversations::define(self.as_str()),
            Self::Forget => forget::define(self.as_str()),
            Self::Why => why::define(self.as_str()),
        }
    }

    /// Runs a call. What went wrong is part of the result, so that the model reads it.
    pub(super) async fn call(
        self,
        server: &MemoryServer,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let result = match self {
            Self::Recall => run(&request, async |arguments| recall::run(arguments, server).await).await,
            Self::Remember => {
                run(&request, async |arguments| remember::run(arguments, server, context).await).await
            }
            Self::Search => run(&request, async |arguments| search::run(arguments, server).await).await,
            Self::Fetch => run(&request, async |arguments| fetch::run(arguments, server).await).await,
            Self::Conversations => {
                run(&request, async |arguments| conversations::run(arguments, server).await).await
            }
            Self::Why => run(&request, async |arguments| why::run(arguments, server).await).await,
            Self::Forget => match parse(request.arguments.as_ref()) {
                Ok(arguments) => return forget::run(arguments, server, &request, context).await,
                Err(failure) => Err(failure),
            },
        };
        result.unwrap_or_else(|failure| to_error(&failure)).into()
    }
}

/// Parses the arguments, runs the tool, and serializes its result.
async fn run<A: DeserializeOwned, R: Serialize>(
    request: &CallToolRequestParams,
    tool: impl AsyncFnOnce(A) -> Result<R, Failure>,
) -> Result<CallToolResult, Failure> {
    to_result(&tool(parse(request.arguments.as_ref())?).await?)
}

pub(super) fn parse<A: DeserializeOwned>(arguments: Option<&JsonObject>) -> Result<A, Failure> {
    let arguments = Value::Object(arguments.cloned().unwrap_or_default());
    if arguments.to_string().len() > MAX_ARGUMENT_BYTES {
        return Err(Failure::usage("the arguments are larger than 64 KiB").hint("Shorten them."));
    }
    serde_json::from_value(arguments)
        .map_err(|error| Failure::usage(format!("the arguments do not fit the schema: {error}")))
}

/// Returns a result as structured content, and as text for older clients.
pub(super) fn to_result(result: &impl Serialize) -> Result<CallToolResult, Failure> {
    let value = serde_json::to_value(result)
        .map_err(|error| Failure::failed(format!("the result cannot be written as JSON: {error}")))?;
    Ok(CallToolResult::structured(value))
}

pub(super) fn to_error(failure: &Failure) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(failure.sentence())])
}

/// Returns the definition of a tool.
fn definition<A: JsonSchema + 'static, R: JsonSchema + 'static>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
) -> Tool {
    Tool::new(name, description, JsonObject::new())
        .with_title(title)
        .with_input_schema::<A>()
        .with_output_schema::<R>()
}

/// Returns the annotations of a tool that only reads memory.
fn read_only() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).open_world(false)
}
