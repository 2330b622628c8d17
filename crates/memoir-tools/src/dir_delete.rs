//! `dir_delete`: a folder of the workspace, gone.

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
            "Delete a folder in the workspace: an empty one, or with recursive all that is in it.",
            object(
                json!({"path": {"type": "string", "description": "Path, relative to the workspace."}, "recursive": {"type": "boolean", "description": "Delete what is in it, too."}}),
                &["path"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { path, recursive } = parse(arguments)?;
        let inside = context.workspace.inside(&path)?;
        let what = if recursive { "with everything that is in it" } else { "if it is empty" };
        let preview = format!("delete {} {what}", inside.real.display());
        Ok(Plan::new(Access::Write(inside.real)).with_preview(preview))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { path, recursive } = parse(&arguments)?;
        let inside = context.workspace.inside(&path)?;
        let failed = |error: std::io::Error| ToolError::Failed(format!("cannot delete {path}: {error}"));
        if inside.is_root() {
            return Err(ToolError::Failed("the workspace itself is not deleted".into()));
        }
        inside.remove_folder(recursive).map_err(failed)?;
        Ok(format!("{path} is deleted").into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn deletes_what_is_empty_or_all_when_asked() {
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
