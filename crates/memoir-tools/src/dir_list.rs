//! `dir_list`: what is in a folder.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde_json::Value;

use crate::{
    Plan, Tool, ToolContext, ToolError, ToolOutput,
    output::{LONGEST_OUTPUT, cap},
    paths::{locate, one_path, reads},
};

pub(crate) struct DirList;

#[async_trait]
impl Tool for DirList {
    fn spec(&self) -> ToolSpec {
        one_path(
            "dir_list",
            "List what is in a folder of the workspace, with sizes; folders end with a slash.",
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        reads(arguments, context)
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (path, inside) = locate(&arguments, context)?;
        let failed = |error: std::io::Error| ToolError::Failed(format!("cannot list {path}: {error}"));
        let mut text = String::new();
        for (name, metadata) in inside.entries().map_err(failed)? {
            text.push_str(&match metadata.is_dir() {
                true => format!("{name}/\n"),
                false => format!("{name}  {} bytes\n", metadata.len()),
            });
        }
        if text.is_empty() {
            text.push_str("The folder is empty.");
        }
        Ok(cap(&text, LONGEST_OUTPUT).into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn lists_files_and_folders() {
        let bench = Bench::new().await;
        bench.file("b/c", "x");
        bench.file("a", "four");
        assert_eq!(bench.run(&DirList, json!({"path": "."})).await.unwrap(), "a  4 bytes\nb/\n");
        assert!(bench.run(&DirList, json!({"path": "a"})).await.is_err());
        assert!(bench.run(&DirList, json!({"path": ".."})).await.is_err());
        for number in 0..2000 {
            bench.file(&format!("many/{number:040}"), "");
        }
        assert!(bench.run(&DirList, json!({"path": "many"})).await.unwrap().contains("[cut: "));
    }
}
