//! The trait of all tools.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{Plan, ToolContext, ToolError};

/// A tool that a model may call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Returns the description for the model.
    fn spec(&self) -> ToolSpec;

    /// Returns whether the description was written by someone other than the user and this program: a project or a server.
    fn is_described_by_others(&self) -> bool {
        false
    }

    /// Returns what a call would do. A call that only reads memory touches nothing that needs approval.
    ///
    /// # Errors
    ///
    /// Fails if the arguments are invalid.
    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let _ = (arguments, context);
        Ok(Plan::default())
    }

    /// Runs the tool. The text is for the model and is already limited in size.
    ///
    /// # Errors
    ///
    /// Fails if the arguments are invalid or the tool fails. The error is sent to the model.
    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

/// The result of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// For the model.
    pub text: String,
    /// For the user: a change they should know about.
    pub notice: Option<String>,
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self { text, notice: None }
    }
}

/// The schema of an object with these properties, of which some are required.
pub(crate) fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The arguments of a call, as the tool takes them.
pub(crate) fn parse<T: DeserializeOwned>(arguments: &Value) -> Result<T, ToolError> {
    T::deserialize(arguments).map_err(|error| ToolError::Arguments(error.to_string()))
}
