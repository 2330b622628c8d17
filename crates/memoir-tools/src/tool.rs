//! The trait that every tool has.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde_json::Value;

use crate::{ToolContext, ToolError};

/// Something a model may ask for.
#[async_trait]
pub trait Tool: Send + Sync {
    /// How it is described to the model.
    fn spec(&self) -> ToolSpec;

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
