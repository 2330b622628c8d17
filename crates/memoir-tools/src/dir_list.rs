//! `dir_list`: lists the contents of a directory.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde_json::Value;

use crate::{
    Plan, Tool, ToolContext, ToolError, ToolOutput,
    output::{MAX_TOOL_OUTPUT_BYTES, count, truncate_output},
    paths::{locate, one_path_spec, plan_read},
};

pub(crate) struct DirList;

#[async_trait]
impl Tool for DirList {
    fn spec(&self) -> ToolSpec {
        one_path_spec(
            "dir_list",
            "List the contents of a directory in the workspace, with file sizes. Directories end with a slash.",
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        plan_read(arguments, context)
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (path, location) = locate(&arguments, context)?;
        let failed = |error: std::io::Error| ToolError::Failed(format!("cannot list {path}: {error}"));
        let mut text = String::new();
        for (name, metadata) in location.entries().map_err(failed)? {
            if context.denies(&location.real.join(&name)) {
                continue;
            }
            let name = name.to_string_lossy();
            text.push_str(&match metadata.is_dir() {
                true => format!("{name}/\n"),
                false => format!("{name}  {}\n", count(metadata.len(), "byte")),
            });
        }
        if text.is_empty() {
            text.push_str("The directory is empty.");
        }
        Ok(truncate_output(&text, MAX_TOOL_OUTPUT_BYTES).into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn files_and_directories_are_listed() {
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
