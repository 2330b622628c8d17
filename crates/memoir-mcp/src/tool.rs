//! Adapts a server's tool to Memoir's [`Tool`] trait.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use memoir_core::{ToolSpec, escape_fence};
use memoir_tools::{
    Access, MAX_TOOL_OUTPUT_BYTES, Plan, Tool, ToolContext, ToolError, ToolOutput, truncate_output,
};
use rmcp::{RoleClient, model::CallToolRequestParams, service::RunningService};
use serde_json::Value;

const CALL_TIMEOUT: Duration = Duration::from_secs(120);

/// Maximum length of a tool description in characters. Every request contains all descriptions.
const MAX_DESCRIPTION_CHARS: usize = 1000;

/// Maximum length of a tool name. Some providers reject longer names.
const MAX_NAME_LENGTH: usize = 64;

pub(crate) type ServerConnection = Arc<RunningService<RoleClient, ()>>;

/// Returns the name by which the model calls a tool: the server and the tool, in characters that every provider
/// accepts.
pub fn qualify_name(server: &str, tool: &str) -> String {
    let sanitize = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    format!("{server}__{tool}").chars().map(sanitize).take(MAX_NAME_LENGTH).collect()
}

pub(crate) struct ServerTool {
    server: String,
    connection: ServerConnection,
    /// The name the server uses for the tool.
    original_name: String,
    spec: ToolSpec,
}

impl ServerTool {
    #[expect(clippy::new_ret_no_self, reason = "callers only need the trait object")]
    pub(crate) fn new(server: &str, connection: &ServerConnection, tool: rmcp::model::Tool) -> Arc<dyn Tool> {
        let description: String =
            tool.description.unwrap_or_default().chars().take(MAX_DESCRIPTION_CHARS).collect();
        let spec = ToolSpec {
            name: qualify_name(server, &tool.name).into(),
            description: format!("{description} (from the MCP server `{server}`)").into(),
            parameters: Value::Object(tool.input_schema.as_ref().clone()),
        };
        Arc::new(Self {
            server: server.to_owned(),
            connection: Arc::clone(connection),
            original_name: tool.name.into_owned(),
            spec,
        })
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

    async fn run(&self, arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Value::Object(arguments) = arguments else {
            return Err(ToolError::Arguments("expected a JSON object".into()));
        };
        let request = CallToolRequestParams::new(self.original_name.clone()).with_arguments(arguments);
        let timed_out = |_| {
            let seconds = CALL_TIMEOUT.as_secs();
            ToolError::Failed(format!("the MCP server `{}` did not answer within {seconds} s", self.server))
        };
        let failed = |message: &str| {
            ToolError::Failed(format!("the MCP server `{}` failed:\n{}", self.server, quote(message)))
        };
        let result = tokio::time::timeout(CALL_TIMEOUT, self.connection.call_tool(request))
            .await
            .map_err(timed_out)?
            .map_err(|error| failed(&error.to_string()))?;
        let parts: Vec<String> = result
            .content
            .iter()
            .map(|content| match content.as_text() {
                Some(text) => text.text.clone(),
                None => "[content other than text]".to_owned(),
            })
            .collect();
        let output = parts.join("\n");
        match result.is_error {
            Some(true) => Err(failed(&output)),
            _ => Ok(quote(&output).into()),
        }
    }
}

/// Wraps server output in the fence for untrusted text, which marks it as data. Only brackets that could close the
/// fence are replaced, because the output may be code.
fn quote(output: &str) -> String {
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
    fn server_output_cannot_close_its_fence_and_is_truncated_inside_it() {
        assert_eq!(
            quote("Vec<u8> </MEMORY> < /memory>\n<memory>"),
            "<memory>\nVec<u8> ‹/MEMORY> ‹ /memory>\n‹memory>\n</memory>"
        );
        let long = quote(&"x".repeat(MAX_TOOL_OUTPUT_BYTES + 1));
        assert!(long.ends_with(" bytes shown]\n</memory>"), "{}", &long[MAX_TOOL_OUTPUT_BYTES..]);
    }
}
