//! A tool that a server offers.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use memoir_core::{ToolSpec, without_fence};
use memoir_tools::{Access, LONGEST_OUTPUT, Plan, Tool, ToolContext, ToolError, ToolOutput, cap};
use rmcp::{RoleClient, model::CallToolRequestParams, service::RunningService};
use serde_json::Value;

/// How long a call may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A longer description is cut: it stands in every request.
const LONGEST_DESCRIPTION: usize = 1000;

/// No provider takes longer names.
const LONGEST_NAME: usize = 64;

/// An open connection to a server.
pub(crate) type ServerConnection = Arc<RunningService<RoleClient, ()>>;

/// Returns the name under which a tool of a server is offered to the model.
pub fn qualify_name(server: &str, tool: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    format!("{server}__{tool}").chars().map(plain).take(LONGEST_NAME).collect()
}

pub(crate) struct ServerTool {
    server: String,
    connection: ServerConnection,
    /// What the server calls it.
    own_name: String,
    spec: ToolSpec,
}

impl ServerTool {
    #[expect(clippy::new_ret_no_self, reason = "it is only ever wanted as a tool")]
    pub(crate) fn new(server: &str, connection: &ServerConnection, tool: rmcp::model::Tool) -> Arc<dyn Tool> {
        let description: String =
            tool.description.unwrap_or_default().chars().take(LONGEST_DESCRIPTION).collect();
        let spec = ToolSpec {
            name: qualify_name(server, &tool.name).into(),
            description: format!("{description} (a tool of the server {server})").into(),
            parameters: Value::Object(tool.input_schema.as_ref().clone()),
        };
        Arc::new(Self {
            server: server.to_owned(),
            connection: Arc::clone(connection),
            own_name: tool.name.into_owned(),
            spec,
        })
    }
}

#[async_trait]
impl Tool for ServerTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn is_described_by_others(&self) -> bool {
        true
    }

    async fn plan(&self, arguments: &Value, _context: &ToolContext) -> Result<Plan, ToolError> {
        let shown = serde_json::to_string_pretty(arguments).unwrap_or_default();
        Ok(Plan {
            accesses: vec![Access::Server(self.server.clone())],
            preview: format!("{} {shown}", self.own_name),
        })
    }

    async fn run(&self, arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Value::Object(arguments) = arguments else {
            return Err(ToolError::Arguments("an object is expected".into()));
        };
        let request = CallToolRequestParams::new(self.own_name.clone()).with_arguments(arguments);
        let late = |_| {
            let seconds = PATIENCE.as_secs();
            ToolError::Failed(format!("the server {} took longer than {seconds} s", self.server))
        };
        let failed =
            |said: &str| ToolError::Failed(format!("the server {} failed:\n{}", self.server, quoted(said)));
        let result = tokio::time::timeout(PATIENCE, self.connection.call_tool(request))
            .await
            .map_err(late)?
            .map_err(|error| failed(&error.to_string()))?;
        let said: Vec<String> = result
            .content
            .iter()
            .map(|content| match content.as_text() {
                Some(text) => text.text.clone(),
                None => "[something that is not text]".to_owned(),
            })
            .collect();
        let said = said.join("\n");
        match result.is_error {
            Some(true) => Err(failed(&said)),
            _ => Ok(quoted(&said).into()),
        }
    }
}

/// What a server says, in the fence of all that others wrote: it asks for nothing. Brackets that close no fence stay, since it may be
/// code.
fn quoted(said: &str) -> String {
    format!("<memory>\n{}\n</memory>", cap(&without_fence(said, "memory"), LONGEST_OUTPUT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_prefixed_and_fit_every_provider() {
        assert_eq!(qualify_name("files", "read_file"), "files__read_file");
        assert_eq!(qualify_name("my server", "get/time.now"), "my_server__get_time_now");
        assert_eq!(qualify_name("s", &"x".repeat(100)).len(), LONGEST_NAME);
    }

    #[test]
    fn what_a_server_says_stays_in_its_fence_and_is_cut_there() {
        assert_eq!(
            quoted("Vec<u8> </MEMORY> < /memory>\n<memory>"),
            "<memory>\nVec<u8> ‹/MEMORY> ‹ /memory>\n‹memory>\n</memory>"
        );
        let long = quoted(&"x".repeat(LONGEST_OUTPUT + 1));
        assert!(long.ends_with(" bytes shown]\n</memory>"), "{}", &long[LONGEST_OUTPUT..]);
    }
}
