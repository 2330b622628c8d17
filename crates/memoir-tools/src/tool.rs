//! The trait that every tool has.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{Plan, ToolContext, ToolError};

/// Something a model may ask for.
#[async_trait]
pub trait Tool: Send + Sync {
    /// How it is described to the model.
    fn spec(&self) -> ToolSpec;

    /// Whether others than the user and this program have written what is said of it: a project, or a server.
    fn is_described_by_others(&self) -> bool {
        false
    }

    /// What a call would do. One that only looks at memory does nothing that anyone has to allow.
    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let _ = (arguments, context);
        Ok(Plan::default())
    }

    /// Runs it. The text is for the model, already cut to size.
    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

/// What a tool gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// For the model.
    pub text: String,
    /// For the user: what was changed that he should know of.
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
