//! How tools are described to a model, and how a model asks for one.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolSpec {
    /// Its name, unique in the list.
    pub name: Cow<'static, str>,
    /// What it does and when to use it, for the model.
    pub description: Cow<'static, str>,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

impl ToolSpec {
    /// A tool that is compiled in.
    pub const fn new(name: &'static str, description: &'static str, parameters: Value) -> Self {
        Self { name: Cow::Borrowed(name), description: Cow::Borrowed(description), parameters }
    }
}

/// A model's request to run a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of this call; the result carries it back.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// Its arguments. A string here means that the model sent broken JSON.
    pub arguments: Value,
}
