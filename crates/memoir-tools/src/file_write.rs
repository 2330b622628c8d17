//! `file_write`: writes a complete file in the workspace.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput, change,
    file_read::MAX_FILE_BYTES,
    output::count,
    tool::{object, parse},
    workspace::ResolvedPath,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    path: String,
    content: String,
}

pub(crate) struct FileWrite;

/// Returns the current content of the file, or an empty string if it is missing, too large or not text.
fn read_current(file: &ResolvedPath) -> String {
    file.read(MAX_FILE_BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

#[async_trait]
impl Tool for FileWrite {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "file_write",
            "Write a complete file in the workspace, replacing any existing file. Missing directories are created.",
            object(
                json!({
                    "path": {"type": "string", "description": "Path of the file, relative to the workspace."},
                    "content": {"type": "string", "description": "Complete new content of the file."}
                }),
                &["path", "content"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { path, content } = parse(arguments)?;
        let file = context.workspace.locate_inside(&path)?;
        let path = context.workspace.show(&file);
        let mut preview = change::diff(&path, &read_current(&file), &content);
        if let Some(bytes) =
            file.metadata().ok().map(|metadata| metadata.len()).filter(|_| read_current(&file).is_empty())
            && bytes > 0
        {
            preview = format!(
                "This replaces {path}, whose content ({}) is not text or too large to show.\n{preview}",
                count(bytes, "byte")
            );
        }
        Ok(Plan::new(Access::Write(file.real)).with_preview(preview))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { path, content } = parse(&arguments)?;
        let file = context.workspace.locate_inside(&path)?;
        let lines = change::size(&read_current(&file), &content);
        let result = file.create_parent().and_then(|()| file.write(content.as_bytes(), None));
        result.map_err(|error| ToolError::Failed(format!("cannot write {path}: {error}")))?;
        Ok(format!("Wrote {path} ({}, {lines} lines)", count(content.len() as u64, "byte")).into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn files_are_written_and_the_preview_is_a_diff() {
        let bench = Bench::new().await;
        bench.file("a.txt", "one\ntwo\n");
        let arguments = json!({"path": "a.txt", "content": "one\nthree\n"});
        let plan = bench.plan(&FileWrite, &arguments).await.unwrap();
        assert!(plan.preview.contains("-two\n+three\n"), "{}", plan.preview);
        assert_eq!(bench.read("a.txt"), "one\ntwo\n", "a plan changes nothing");
        let text = bench.run(&FileWrite, arguments).await.unwrap();
        assert_eq!(text, "Wrote a.txt (10 bytes, +1 -1 lines)");
        bench.run(&FileWrite, json!({"path": "new/deep/b.txt", "content": "x"})).await.unwrap();
        assert_eq!(
            (bench.read("a.txt").as_str(), bench.read("new/deep/b.txt").as_str()),
            ("one\nthree\n", "x")
        );
        for path in ["../out.txt", "/etc/out.txt", "."] {
            assert!(bench.run(&FileWrite, json!({"path": path, "content": "x"})).await.is_err(), "{path}");
        }
    }
}
