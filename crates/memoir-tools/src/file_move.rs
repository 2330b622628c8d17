//! `file_move`: moves or renames a file or directory in the workspace.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde_json::Value;

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput,
    paths::{PathPair, two_path_spec},
};

pub(crate) struct FileMove;

#[async_trait]
impl Tool for FileMove {
    fn spec(&self) -> ToolSpec {
        two_path_spec(
            "file_move",
            "Move or rename a file or a directory within the workspace. Existing files are not overwritten.",
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let paths = PathPair::parse(arguments, context)?;
        let included = context.check_contents(&paths.source)?;
        let mut plan = paths.plan("move", Access::Write, &context.workspace);
        plan.accesses.extend(included);
        Ok(plan)
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let paths = PathPair::parse(&arguments, context)?;
        paths.check_target_is_free()?;
        let PathPair { from, source, to, target } = paths;
        let failed =
            |error: std::io::Error| ToolError::Failed(format!("cannot move {from} to {to}: {error}"));
        target.create_parent().and_then(|()| source.rename_to(&target)).map_err(failed)?;
        Ok(format!("Moved {from} to {to}").into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn files_are_moved_and_never_overwritten() {
        let bench = Bench::new().await;
        bench.file("a", "one");
        bench.file("b", "two");
        bench.run(&FileMove, json!({"from": "a", "to": "deep/c"})).await.unwrap();
        assert!(!bench.path("a").exists() && bench.read("deep/c") == "one");
        for (from, to) in [("deep/c", "b"), ("a", "d"), ("b", "../b"), ("../memory", "m")] {
            assert!(bench.run(&FileMove, json!({"from": from, "to": to})).await.is_err(), "{from} {to}");
        }
        assert_eq!(bench.read("b"), "two");
    }
}
