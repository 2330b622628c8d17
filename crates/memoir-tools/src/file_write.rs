//! `file_write`: a file of the workspace, written whole.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput, change,
    file_read::LARGEST_FILE,
    tool::{object, parse},
    workspace::WorkspacePath,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    path: String,
    content: String,
}

pub(crate) struct FileWrite;

/// What a file holds, if it is text and there is one.
fn before(inside: &WorkspacePath) -> String {
    inside.read(LARGEST_FILE).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

#[async_trait]
impl Tool for FileWrite {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "file_write",
            "Write a file in the workspace, whole, in the place of what was there. Folders are made as needed.",
            object(
                json!({
                    "path": {"type": "string", "description": "Path of the file, relative to the workspace."},
                    "content": {"type": "string", "description": "All that the file is to hold."}
                }),
                &["path", "content"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { path, content } = parse(arguments)?;
        let inside = context.workspace.inside(&path)?;
        let mut preview = change::diff(&path, &before(&inside), &content);
        if let Some(bytes) =
            inside.metadata().ok().map(|known| known.len()).filter(|_| before(&inside).is_empty())
            && bytes > 0
        {
            preview = format!(
                "{path} is replaced, whose {bytes} bytes are not text or too many to show\n{preview}"
            );
        }
        Ok(Plan::new(Access::Write(inside.real)).with_preview(preview))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { path, content } = parse(&arguments)?;
        let inside = context.workspace.inside(&path)?;
        let size = change::size(&before(&inside), &content);
        let written = inside.create_parent().and_then(|()| inside.write(content.as_bytes()));
        written.map_err(|error| ToolError::Failed(format!("cannot write {path}: {error}")))?;
        Ok(format!("{path} is written ({} bytes, {size} lines)", content.len()).into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn writes_whole_files_and_shows_what_would_change() {
        let bench = Bench::new().await;
        bench.file("a.txt", "one\ntwo\n");
        let arguments = json!({"path": "a.txt", "content": "one\nthree\n"});
        let plan = bench.plan(&FileWrite, &arguments).await.unwrap();
        assert!(plan.preview.contains("-two\n+three\n"), "{}", plan.preview);
        assert_eq!(bench.read("a.txt"), "one\ntwo\n", "a plan changes nothing");
        let said = bench.run(&FileWrite, arguments).await.unwrap();
        assert_eq!(said, "a.txt is written (10 bytes, +1 -1 lines)");
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
