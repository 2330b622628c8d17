//! Tool descriptions sent to a model, and the tool calls it makes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool as described to a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolSpec {
    /// Unique name, by which the model calls the tool.
    pub name: Cow<'static, str>,
    /// What the tool does and when to use it.
    pub description: Cow<'static, str>,
    /// JSON schema of the arguments.
    pub parameters: Value,
}

impl ToolSpec {
    /// Creates the description of a built-in tool.
    pub const fn new(name: &'static str, description: &'static str, parameters: Value) -> Self {
        Self { name: Cow::Borrowed(name), description: Cow::Borrowed(description), parameters }
    }
}

/// A model's request to run a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id for this call, repeated in the result.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments. A string means that the model sent invalid JSON.
    pub arguments: Value,
}
