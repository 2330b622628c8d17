//! A tool that reads the resources of a server, to which results of its other tools may link.

use async_trait::async_trait;
use memoir_core::{ToolSpec, lock};
use memoir_tools::{Access, Plan, Tool, ToolContext, ToolError, ToolOutput};
use serde_json::{Value, json};

use crate::{connection::read_resource, server::CurrentConnection, tool::quote};

/// The name of the tool after the name of its server.
pub(crate) const NAME: &str = "fetch_resource";

pub(crate) struct ResourceTool {
    pub(crate) server: String,
    /// The name by which the model calls the tool.
    pub(crate) name: String,
    pub(crate) connection: CurrentConnection,
}

#[async_trait]
impl Tool for ResourceTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.clone().into(),
            description: format!("Read a resource of the MCP server `{}` by its URI.", self.server).into(),
            parameters: json!({
                "type": "object",
                "properties": {"uri": {"type": "string", "description": "URI of the resource."}},
                "required": ["uri"],
                "additionalProperties": false,
            }),
        }
    }

    async fn plan(&self, arguments: &Value, _context: &ToolContext) -> Result<Plan, ToolError> {
        let preview = format!("read the resource {}", uri(arguments)?);
        Ok(Plan { accesses: vec![Access::Server(self.server.clone())], preview })
    }

    async fn run(&self, arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let connection = lock(&self.connection).clone();
        let content = read_resource(connection.as_deref(), uri(&arguments)?).await.map_err(|reason| {
            ToolError::Failed(format!("the MCP server `{}` failed:\n{}", self.server, quote(&reason)))
        })?;
        Ok(ToolOutput { text: quote(&content.text()), images: content.images, notice: None })
    }
}

fn uri(arguments: &Value) -> Result<&str, ToolError> {
    arguments["uri"].as_str().ok_or_else(|| ToolError::Arguments("expected a `uri`".into()))
}
