//! `file_move`: a file or folder of the workspace, under another name.

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
struct Arguments {
    from: String,
    to: String,
}

pub(crate) struct FileMove;

#[async_trait]
impl Tool for FileMove {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "file_move",
            "Move or rename a file or a folder within the workspace. What exists is not overwritten.",
            object(
                json!({
                    "from": {"type": "string", "description": "Path of the file or folder."},
                    "to": {"type": "string", "description": "Path that it is to have."}
                }),
                &["from", "to"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let Arguments { from, to } = parse(arguments)?;
        let (source, target) = (context.workspace.inside(&from)?, context.workspace.inside(&to)?);
        let accesses = vec![Access::Write(source.real), Access::Write(target.real)];
        Ok(Plan { accesses, preview: format!("file_move {from} -> {to}") })
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Arguments { from, to } = parse(&arguments)?;
        let (source, target) = (context.workspace.inside(&from)?, context.workspace.inside(&to)?);
        let failed =
            |error: std::io::Error| ToolError::Failed(format!("cannot move {from} to {to}: {error}"));
        if target.exists() {
            return Err(ToolError::Failed(format!("{to} exists; delete it first")));
        }
        target.create_parent().and_then(|()| source.rename_to(&target)).map_err(failed)?;
        Ok(format!("{from} is {to} now").into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn moves_and_overwrites_nothing() {
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
