//! `dir_delete`: deletes a directory in the workspace.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput,
    tool::{object, parse},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    path: String,
    #[serde(default)]
    recursive: bool,
}

pub(crate) struct DirDelete;

#[async_trait]
impl Tool for DirDelete {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "dir_delete",
            "Delete a directory in the workspace. It must be empty, unless recursive is set.",
            object(
                json!({
                    "path": {"type": "string", "description": "Path relative to the workspace."},
                    "recursive": {"type": "boolean", "description": "Also delete everything in the directory."}
                }),
                &["path"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { path, recursive } = parse(arguments)?;
        let location = context.workspace.locate_inside(&path)?;
        let included = context.check_contents(&location)?;
        let extent = if recursive { "and everything in it" } else { "if it is empty" };
        let preview = format!("delete {} {extent}", context.workspace.show(&location));
        let mut plan = Plan::new(Access::Write(location.real)).with_preview(preview);
        plan.accesses.extend(included);
        Ok(plan)
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { path, recursive } = parse(&arguments)?;
        let location = context.workspace.locate_inside(&path)?;
        let failed = |error: std::io::Error| ToolError::Failed(format!("cannot delete {path}: {error}"));
        if location.is_root() {
            return Err(ToolError::Failed("the workspace itself cannot be deleted".into()));
        }
        location.remove_directory(recursive).map_err(failed)?;
        Ok(format!("Deleted {path}").into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn only_empty_directories_are_deleted_unless_recursive() {
        let bench = Bench::new().await;
        bench.file("a/b/c", "one");
        let run = async |arguments| bench.run(&DirDelete, arguments).await.map_err(|error| error.to_string());
        assert!(run(json!({"path": "a"})).await.unwrap_err().contains("cannot delete"), "it is not empty");
        assert!(run(json!({"path": ".", "recursive": true})).await.is_err() && bench.path("a/b/c").exists());
        assert!(run(json!({"path": "../memory", "recursive": true})).await.unwrap_err().contains("outside"));
        run(json!({"path": "a", "recursive": true})).await.unwrap();
        assert!(!bench.path("a").exists());
    }
}
