//! The trait that all tools implement.

use async_trait::async_trait;
use memoir_core::{Image, ToolSpec};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{Plan, ToolContext, ToolError};

/// A tool that a model may call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Returns the description for the model.
    fn spec(&self) -> ToolSpec;

    /// Returns whether the description comes from an untrusted source, such as a project or a server.
    fn has_untrusted_description(&self) -> bool {
        false
    }

    /// Returns what a call would access. The default is an empty plan, for tools that only read memory.
    ///
    /// # Errors
    ///
    /// Fails if the arguments are invalid.
    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let _ = (arguments, context);
        Ok(Plan::default())
    }

    /// Runs the tool and returns its output, which is already limited in size.
    ///
    /// # Errors
    ///
    /// Fails if the arguments are invalid or the tool fails. The error is sent to the model.
    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

/// The result of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// Text sent to the model. It describes the images.
    pub text: String,
    /// Images, for models that can see them.
    pub images: Vec<Image>,
    /// A change that the user is told about.
    pub notice: Option<String>,
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self { text, images: Vec::new(), notice: None }
    }
}

/// Returns the JSON schema of an object with these properties.
pub(crate) fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Parses the arguments of a call.
pub(crate) fn parse<T: DeserializeOwned>(arguments: &Value) -> Result<T, ToolError> {
    T::deserialize(arguments).map_err(|error| ToolError::Arguments(error.to_string()))
}
