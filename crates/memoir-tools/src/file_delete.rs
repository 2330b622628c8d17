//! `file_delete`: deletes a file in the workspace.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde_json::Value;

use crate::{
    Plan, Tool, ToolContext, ToolError, ToolOutput,
    paths::{locate, one_path_spec, plan_change},
};

pub(crate) struct FileDelete;

#[async_trait]
impl Tool for FileDelete {
    fn spec(&self) -> ToolSpec {
        one_path_spec("file_delete", "Delete one file in the workspace. Use dir_delete for directories.")
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        plan_change("delete", arguments, context)
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (path, location) = locate(&arguments, context)?;
        let failed = |error: std::io::Error| ToolError::Failed(format!("cannot delete {path}: {error}"));
        if location.metadata().map_err(failed)?.is_dir() {
            return Err(ToolError::Failed(format!("{path} is a directory; use dir_delete")));
        }
        location.remove_file().map_err(failed)?;
        Ok(format!("Deleted {path}").into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn files_are_deleted_and_directories_are_not() {
        let bench = Bench::new().await;
        bench.file("d/a", "one");
        bench.run(&FileDelete, json!({"path": "d/a"})).await.unwrap();
        assert!(!bench.path("d/a").exists());
        for (path, expected) in
            [("d", "is a directory"), ("none", "cannot delete"), ("../memory/memoir.db", "outside")]
        {
            let error = bench.run(&FileDelete, json!({"path": path})).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
