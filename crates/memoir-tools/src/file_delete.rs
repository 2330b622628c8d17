//! `file_delete`: a file of the workspace, gone.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde_json::Value;

use crate::{
    Plan, Tool, ToolContext, ToolError, ToolOutput,
    paths::{changes, locate, one_path},
};

pub(crate) struct FileDelete;

#[async_trait]
impl Tool for FileDelete {
    fn spec(&self) -> ToolSpec {
        one_path("file_delete", "Delete one file in the workspace. Folders are deleted with dir_delete.")
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        changes("delete", arguments, context)
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (path, inside) = locate(&arguments, context)?;
        let failed = |error: std::io::Error| ToolError::Failed(format!("cannot delete {path}: {error}"));
        if inside.metadata().map_err(failed)?.is_dir() {
            return Err(ToolError::Failed(format!("{path} is a folder; dir_delete deletes folders")));
        }
        inside.remove_file().map_err(failed)?;
        Ok(format!("{path} is deleted").into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn deletes_a_file_and_no_folder() {
        let bench = Bench::new().await;
        bench.file("d/a", "one");
        bench.run(&FileDelete, json!({"path": "d/a"})).await.unwrap();
        assert!(!bench.path("d/a").exists());
        for (path, said) in
            [("d", "is a folder"), ("none", "cannot delete"), ("../memory/memoir.db", "outside")]
        {
            let error = bench.run(&FileDelete, json!({"path": path})).await.unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
