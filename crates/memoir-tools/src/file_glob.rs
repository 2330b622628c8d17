//! `file_glob`: finds files by a pattern.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput,
    tool::{object, parse},
    walk::{display_path, walk},
};

const MAX_FILES: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    pattern: String,
    #[serde(default = "default_path")]
    path: String,
}

fn default_path() -> String {
    ".".into()
}

pub(crate) struct FileGlob;

#[async_trait]
impl Tool for FileGlob {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "file_glob",
            "Find files in the workspace by a pattern such as **/*.rs. Files excluded by .gitignore are skipped.",
            object(
                json!({
                    "pattern": {"type": "string", "description": "Pattern with *, **, ?, [a-z] and {a,b}."},
                    "path": {"type": "string", "description": "Directory to search; the workspace by default."}
                }),
                &["pattern"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { path, .. } = parse(arguments)?;
        Ok(Plan::new(Access::Read(context.workspace.locate_inside(&path)?.real)))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { pattern, path } = parse(&arguments)?;
        let start = context.workspace.locate_inside(&path)?;
        let mut files: Vec<String> = walk(&start, Some(&pattern), None, context.denied.clone())?
            .filter(|entry| !entry.is_directory)
            .take(MAX_FILES + 1)
            .map(|entry| display_path(&path, &entry.relative))
            .collect();
        if files.is_empty() {
            return Ok(format!("No file matches {pattern}.").into());
        }
        if files.len() > MAX_FILES {
            files[MAX_FILES] = format!("[cut: the first {MAX_FILES} files shown]");
        }
        Ok(files.join("\n").into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn files_are_found_by_pattern_and_gitignore_is_respected() {
        let bench = Bench::new().await;
        for name in ["a.rs", "deep/b.rs", "deep/c.txt", "target/d.rs"] {
            bench.file(name, "");
        }
        bench.file(".gitignore", "target/\n");
        let find = async |arguments| bench.run(&FileGlob, arguments).await;
        assert_eq!(find(json!({"pattern": "**/*.rs"})).await.unwrap(), "a.rs\ndeep/b.rs");
        assert!(
            !find(json!({"pattern": "**/*"})).await.unwrap().contains("target"),
            "even if all files match"
        );
        assert_eq!(find(json!({"pattern": "*.txt", "path": "deep"})).await.unwrap(), "deep/c.txt");
        assert_eq!(find(json!({"pattern": "*.py"})).await.unwrap(), "No file matches *.py.");
        assert!(find(json!({"pattern": "a[", "path": "."})).await.is_err());
        assert!(find(json!({"pattern": "*", "path": "/etc"})).await.is_err());
        for number in 0..MAX_FILES + 5 {
            bench.file(&format!("many/{number}.x"), "");
        }
        assert!(find(json!({"pattern": "*.x"})).await.unwrap().ends_with("[cut: the first 500 files shown]"));
    }
}
