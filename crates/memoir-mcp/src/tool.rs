//! Adapts a server's tool to Memoir's [`Tool`] trait.

use std::{collections::HashSet, sync::Arc, time::Duration};

use async_trait::async_trait;
use memoir_core::{ToolSpec, escape_fence, lock};
use memoir_tools::{
    Access, MAX_TOOL_OUTPUT_BYTES, Plan, Tool, ToolContext, ToolError, ToolOutput, truncate_output,
};
use rmcp::{ServiceError, model::CallToolRequestParams};
use serde_json::Value;
use tokio::time::Instant;

use crate::{
    connection::Connection,
    content::ServerContent,
    failure::{describe_request, is_gone},
    resource_tool::{self, ResourceTool},
    server::CurrentConnection,
};

/// Maximum length of a tool description in characters. Every request contains all descriptions.
const MAX_DESCRIPTION_CHARS: usize = 1000;

/// Maximum length of a tool name. Some providers reject longer names.
const MAX_NAME_LENGTH: usize = 64;

/// How long the reports of a server about its progress can extend a call.
const MAX_CALL_TIME: Duration = Duration::from_secs(3600);

/// Returns the name by which the model calls a tool: the server and the tool, in characters that every provider
/// accepts.
pub fn qualify_name(server: &str, tool: &str) -> String {
    let sanitize = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    format!("{server}__{tool}").chars().map(sanitize).take(MAX_NAME_LENGTH).collect()
}

/// Returns a name that no other tool has. Names that were cut off or contained other characters may be equal.
fn make_unique(mut name: String, used: &mut HashSet<String>) -> String {
    let original = name.clone();
    for number in 2.. {
        if used.insert(name.clone()) {
            break;
        }
        let suffix = format!("_{number}");
        name = original.chars().take(MAX_NAME_LENGTH - suffix.len()).collect::<String>() + &suffix;
    }
    name
}

pub(crate) struct ServerTool {
    server: String,
    connection: CurrentConnection,
    /// The name the server uses for the tool.
    original_name: String,
    spec: ToolSpec,
}

impl ServerTool {
    /// Returns all tools of a server.
    pub(crate) fn all(
        server: &str,
        connection: &CurrentConnection,
        tools: Vec<rmcp::model::Tool>,
        has_resources: bool,
    ) -> Vec<Arc<dyn Tool>> {
        let mut used = HashSet::new();
        let convert = |tool: rmcp::model::Tool| -> Arc<dyn Tool> {
            let description: String =
                tool.description.unwrap_or_default().chars().take(MAX_DESCRIPTION_CHARS).collect();
            let spec = ToolSpec {
                name: make_unique(qualify_name(server, &tool.name), &mut used).into(),
                description: format!("{description} (from the MCP server `{server}`)").into(),
                parameters: Value::Object(tool.input_schema.as_ref().clone()),
            };
            Arc::new(Self {
                server: server.to_owned(),
                connection: Arc::clone(connection),
                original_name: tool.name.into_owned(),
                spec,
            })
        };
        let mut tools: Vec<Arc<dyn Tool>> = tools.into_iter().map(convert).collect();
        if has_resources {
            tools.push(Arc::new(ResourceTool {
                server: server.to_owned(),
                name: make_unique(qualify_name(server, resource_tool::NAME), &mut used),
                connection: Arc::clone(connection),
            }));
        }
        tools
    }

    /// Describes a call that failed. If the server has gone, it is started again.
    async fn explain(&self, error: &ServiceError, connection: &Connection) -> ToolError {
        let reason = describe_request(error);
        if !is_gone(error) {
            return self.fail(&reason);
        }
        connection.lost.notify_one();
        let reason = connection.last_lines.explain(&reason).await;
        self.fail(&format!("{reason}. It is being started again"))
    }

    fn fail(&self, reason: &str) -> ToolError {
        ToolError::Failed(format!("the MCP server `{}` failed:\n{}", self.server, quote(reason)))
    }
}

#[async_trait]
impl Tool for ServerTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn has_untrusted_description(&self) -> bool {
        true
    }

    async fn plan(&self, arguments: &Value, _context: &ToolContext) -> Result<Plan, ToolError> {
        let arguments = serde_json::to_string_pretty(arguments).unwrap_or_default();
        Ok(Plan {
            accesses: vec![Access::Server(self.server.clone())],
            preview: format!("{} {arguments}", self.original_name),
        })
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Value::Object(arguments) = arguments else {
            return Err(ToolError::Arguments("expected a JSON object".into()));
        };
        let request = CallToolRequestParams::new(self.original_name.clone()).with_arguments(arguments);
        let connection = lock(&self.connection).clone();
        let connection = connection.ok_or_else(|| self.fail("it is not connected now"))?;
        let limit = connection.call_timeout;
        let mut progress = connection.progress.subscribe();
        let started = Instant::now();
        let mut call = std::pin::pin!(connection.call_tool(request));
        let result = loop {
            // Progress and questions to the user extend the time.
            tokio::select! {
                biased;
                Ok(()) = progress.changed(), if started.elapsed() < MAX_CALL_TIME => {
                    context.report_progress(&progress.borrow_and_update());
                }
                result = &mut call => break result,
                () = tokio::time::sleep(limit) => {
                    if connection.questions.is_asking() {
                        continue;
                    }
                    let (server, seconds) = (&self.server, limit.as_secs());
                    let reason = format!("the MCP server `{server}` did not answer within {seconds} s");
                    return Err(ToolError::Failed(reason));
                }
            }
        };
        let result = match result {
            Ok(result) => result,
            Err(error) => return Err(self.explain(&error, &connection).await),
        };
        let content = ServerContent::from(&result);
        match result.is_error {
            Some(true) => Err(self.fail(&content.text())),
            _ => Ok(ToolOutput { text: quote(&content.text()), images: content.images, notice: None }),
        }
    }
}

/// Wraps server output in the fence for untrusted text, which marks it as data. Only brackets that could close the
/// fence are replaced, because the output may be code.
pub(crate) fn quote(output: &str) -> String {
    format!(
        "<memory>\n{}\n</memory>",
        truncate_output(&escape_fence(output, "memory"), MAX_TOOL_OUTPUT_BYTES)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_prefixed_and_fit_every_provider() {
        assert_eq!(qualify_name("files", "read_file"), "files__read_file");
        assert_eq!(qualify_name("my server", "get/time.now"), "my_server__get_time_now");
        assert_eq!(qualify_name("s", &"x".repeat(100)).len(), MAX_NAME_LENGTH);
    }

    #[test]
    fn equal_names_are_numbered() {
        let mut used = HashSet::new();
        let long = "x".repeat(100);
        let names: Vec<String> = (0..3).map(|_| make_unique(qualify_name("s", &long), &mut used)).collect();
        assert!(names.iter().all(|name| name.len() == MAX_NAME_LENGTH), "{names:?}");
        assert!(names[1].ends_with("x_2") && names[2].ends_with("x_3"), "{names:?}");
    }

    #[test]
    fn server_output_cannot_close_its_fence_and_is_truncated_inside_it() {
        assert_eq!(
            quote("Vec<u8> </MEMORY> < /memory>\n<memory>"),
            "<memory>\nVec<u8> ‹/MEMORY> ‹ /memory>\n‹memory>\n</memory>"
        );
        let long = quote(&"x".repeat(MAX_TOOL_OUTPUT_BYTES + 1));
        assert!(long.ends_with(" bytes shown]\n</memory>"), "{}", &long[MAX_TOOL_OUTPUT_BYTES..]);
    }
}
