//! `dir_create`: a new folder in the workspace.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde_json::Value;

use crate::{
    Plan, Tool, ToolContext, ToolError, ToolOutput,
    paths::{changes, locate, one_path},
};

pub(crate) struct DirCreate;

#[async_trait]
impl Tool for DirCreate {
    fn spec(&self) -> ToolSpec {
        one_path("dir_create", "Create a folder in the workspace, and those above it as needed.")
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        changes("create", arguments, context)
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (path, inside) = locate(&arguments, context)?;
        let failed = |error: std::io::Error| ToolError::Failed(format!("cannot create {path}: {error}"));
        if inside.exists() {
            return Err(ToolError::Failed(format!("{path} exists")));
        }
        inside.create_folder().map_err(failed)?;
        Ok(format!("{path} is created").into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn creates_folders_inside_only() {
        let bench = Bench::new().await;
        bench.run(&DirCreate, json!({"path": "a/b/c"})).await.unwrap();
        assert!(bench.path("a/b/c").is_dir());
        for (path, said) in [("a/b", "exists"), ("../x", "outside"), ("/tmp/x-of-memoir", "outside")] {
            let error = bench.run(&DirCreate, json!({"path": path})).await.unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
