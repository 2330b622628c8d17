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
    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<String, ToolError>;
}
