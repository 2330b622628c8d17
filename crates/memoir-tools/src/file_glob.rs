//! `file_glob`: files by the pattern of their names.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput,
    tool::{object, parse},
    walk::{display_path, walk},
};

/// So many files at most.
const MOST: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    pattern: String,
    #[serde(default = "here")]
    path: String,
}

fn here() -> String {
    ".".into()
}

pub(crate) struct FileGlob;

#[async_trait]
impl Tool for FileGlob {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "file_glob",
            "Find files in the workspace by a pattern such as **/*.rs. What .gitignore leaves out is left out.",
            object(
                json!({
                    "pattern": {"type": "string", "description": "The pattern: *, **, ?, [a-z] and {a,b}."},
                    "path": {"type": "string", "description": "The folder to look in; the workspace if left out."}
                }),
                &["pattern"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { path, .. } = parse(arguments)?;
        Ok(Plan::new(Access::Read(context.workspace.inside(&path)?.real)))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { pattern, path } = parse(&arguments)?;
        let start = context.workspace.inside(&path)?;
        let mut found: Vec<String> = walk(&start, Some(&pattern), None)?
            .filter(|entry| !entry.is_folder)
            .take(MOST + 1)
            .map(|entry| display_path(&path, &entry.relative))
            .collect();
        if found.is_empty() {
            return Ok(format!("No file matches {pattern}.").into());
        }
        if found.len() > MOST {
            found[MOST] = format!("[cut: the first {MOST} files shown]");
        }
        Ok(found.join("\n").into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn finds_by_pattern_and_honours_gitignore() {
        let bench = Bench::new().await;
        for name in ["a.rs", "deep/b.rs", "deep/c.txt", "target/d.rs"] {
            bench.file(name, "");
        }
        bench.file(".gitignore", "target/\n");
        let find = async |arguments| bench.run(&FileGlob, arguments).await;
        assert_eq!(find(json!({"pattern": "**/*.rs"})).await.unwrap(), "a.rs\ndeep/b.rs");
        assert!(!find(json!({"pattern": "**/*"})).await.unwrap().contains("target"), "whatever the pattern");
        assert_eq!(find(json!({"pattern": "*.txt", "path": "deep"})).await.unwrap(), "deep/c.txt");
        assert_eq!(find(json!({"pattern": "*.py"})).await.unwrap(), "No file matches *.py.");
        assert!(find(json!({"pattern": "a[", "path": "."})).await.is_err());
        assert!(find(json!({"pattern": "*", "path": "/etc"})).await.is_err());
        for number in 0..MOST + 5 {
            bench.file(&format!("many/{number}.x"), "");
        }
        assert!(find(json!({"pattern": "*.x"})).await.unwrap().ends_with("[cut: the first 500 files shown]"));
    }
}
