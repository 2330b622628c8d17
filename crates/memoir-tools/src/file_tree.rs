//! `file_tree`: shows directories and files as a tree.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput,
    tool::{object, parse},
    walk::walk,
};

const MAX_ENTRIES: usize = 400;

const DEFAULT_DEPTH: usize = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    #[serde(default = "default_path")]
    path: String,
    depth: Option<usize>,
}

fn default_path() -> String {
    ".".into()
}

pub(crate) struct FileTree;

#[async_trait]
impl Tool for FileTree {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "file_tree",
            "Show the directories and files of the workspace as a tree. Files excluded by .gitignore are skipped.",
            object(
                json!({
                    "path": {"type": "string", "description": "Root directory of the tree; the workspace by default."},
                    "depth": {"type": "integer", "minimum": 1, "description": "Maximum depth; 4 by default."}
                }),
                &[],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { path, .. } = parse(arguments)?;
        Ok(Plan::new(Access::Read(context.workspace.locate_inside(&path)?.real)))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { path, depth } = parse(&arguments)?;
        let start = context.workspace.locate_inside(&path)?;
        let mut lines = vec![format!("{path}/")];
        for entry in walk(&start, None, Some(depth.unwrap_or(DEFAULT_DEPTH)), context.denied.clone())? {
            if lines.len() > MAX_ENTRIES {
                lines.push(format!("[cut: the first {MAX_ENTRIES} entries shown]"));
                break;
            }
            let name = entry.relative.file_name().unwrap_or_default().to_string_lossy();
            let slash = if entry.is_directory { "/" } else { "" };
            lines.push(format!("{}{name}{slash}", "  ".repeat(entry.depth)));
        }
        Ok(lines.join("\n").into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn the_tree_is_limited_in_depth_and_size() {
        let bench = Bench::new().await;
        for name in ["a.rs", "deep/b.rs", "deep/er/c.rs", "target/d"] {
            bench.file(name, "");
        }
        bench.file(".gitignore", "target\n");
        let draw = async |arguments| bench.run(&FileTree, arguments).await;
        assert_eq!(
            draw(json!({"depth": 2})).await.unwrap(),
            "./\n  .gitignore\n  a.rs\n  deep/\n    b.rs\n    er/"
        );
        assert!(draw(json!({"path": "deep"})).await.unwrap().contains("    c.rs"));
        assert!(draw(json!({"path": ".."})).await.is_err());
        for number in 0..MAX_ENTRIES + 5 {
            bench.file(&format!("many/{number}"), "");
        }
        assert!(draw(json!({})).await.unwrap().ends_with("[cut: the first 400 entries shown]"));
    }
}
