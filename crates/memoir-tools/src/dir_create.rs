//! `dir_create`: creates a directory in the workspace.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde_json::Value;

use crate::{
    Plan, Tool, ToolContext, ToolError, ToolOutput,
    paths::{locate, one_path_spec, plan_change},
};

pub(crate) struct DirCreate;

#[async_trait]
impl Tool for DirCreate {
    fn spec(&self) -> ToolSpec {
        one_path_spec(
            "dir_create",
            "Create a directory in the workspace, including missing parent directories.",
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        plan_change("create", arguments, context)
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (path, location) = locate(&arguments, context)?;
        let failed = |error: std::io::Error| ToolError::Failed(format!("cannot create {path}: {error}"));
        if location.exists() {
            return Err(ToolError::Failed(format!("{path} already exists")));
        }
        location.create_directory().map_err(failed)?;
        Ok(format!("Created {path}").into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn directories_are_created_only_in_the_workspace() {
        let bench = Bench::new().await;
        bench.run(&DirCreate, json!({"path": "a/b/c"})).await.unwrap();
        assert!(bench.path("a/b/c").is_dir());
        for (path, expected) in [("a/b", "exists"), ("../x", "outside"), ("/tmp/x-of-memoir", "outside")] {
            let error = bench.run(&DirCreate, json!({"path": path})).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
