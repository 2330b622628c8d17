//! `file_read`: reads a text file, completely or in part, or an image.

use async_trait::async_trait;
use memoir_core::{Image, ImageError, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput,
    output::{MAX_TOOL_OUTPUT_BYTES, truncate_output},
    tool::{object, parse},
    workspace::PathLocation,
};

/// Maximum size of a file that is read into memory.
pub(crate) const MAX_FILE_BYTES: u64 = 10 * 1024 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    path: String,
    first_line: Option<usize>,
    last_line: Option<usize>,
}

pub(crate) struct FileRead;

#[async_trait]
impl Tool for FileRead {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "file_read",
            "Read a text file, completely or a range of lines, or look at an image. Reading outside the workspace requires the user's approval.",
            object(
                json!({
                    "path": {"type": "string", "description": "Path of the file, relative to the workspace."},
                    "first_line": {"type": "integer", "minimum": 1, "description": "First line to read; 1 by default."},
                    "last_line": {"type": "integer", "minimum": 1, "description": "Last line to read; the end of the file by default."}
                }),
                &["path"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { path, .. } = parse(arguments)?;
        Ok(match context.workspace.locate(&path)? {
            PathLocation::Inside(location) => Plan::new(Access::Read(location.real)),
            PathLocation::Outside(location) => {
                let preview = context.workspace.show(&location);
                Plan::new(Access::ReadOutside(location.real)).with_preview(preview)
            }
        })
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { path, first_line, last_line } = parse(&arguments)?;
        // If the path is outside the workspace, the plan says so, and the caller has obtained approval.
        let (PathLocation::Inside(location) | PathLocation::Outside(location)) =
            context.workspace.locate(&path)?;
        let bytes = location
            .read(MAX_FILE_BYTES)
            .map_err(|error| ToolError::Failed(format!("cannot read {path}: {error}")))?;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => return read_image(&path, error.into_bytes()),
        };
        Ok(truncate_output(&select_lines(&text, first_line.unwrap_or(1), last_line), MAX_TOOL_OUTPUT_BYTES)
            .into())
    }
}

fn read_image(path: &str, bytes: Vec<u8>) -> Result<ToolOutput, ToolError> {
    match Image::new(bytes) {
        Ok(image) => {
            Ok(ToolOutput { text: format!("[image {path}: {image}]"), images: vec![image], notice: None })
        }
        Err(ImageError::UnknownFormat) => {
            Err(ToolError::Failed(format!("{path} is neither text nor a PNG, JPEG, GIF or WebP image")))
        }
        Err(error @ ImageError::TooLarge) => Err(ToolError::Failed(format!("cannot read {path}: {error}"))),
    }
}

fn select_lines(text: &str, first: usize, last: Option<usize>) -> String {
    if first <= 1 && last.is_none() {
        return text.to_owned();
    }
    let skip = first.saturating_sub(1);
    let take = last.map_or(usize::MAX, |last| last.saturating_sub(skip));
    text.split_inclusive('\n').skip(skip).take(take).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use std::fs;

    use memoir_store_sqlite::SqliteStore;
    use tempfile::TempDir;

    use super::*;
    use crate::testing;

    async fn read(directory: &TempDir, arguments: Value) -> Result<String, ToolError> {
        let store = SqliteStore::open(&directory.path().join("memory/memoir.db")).await.unwrap();
        let workspace = directory.path().join("work");
        let context = testing::context(&workspace, store);
        FileRead.run(arguments, &context).await.map(|output| output.text)
    }

    async fn plan(directory: &TempDir, arguments: Value) -> Plan {
        let store = SqliteStore::open(&directory.path().join("memory/memoir.db")).await.unwrap();
        let context = testing::context(&directory.path().join("work"), store);
        FileRead.plan(&arguments, &context).await.unwrap()
    }

    fn workspace() -> TempDir {
        let directory = TempDir::new().unwrap();
        fs::create_dir(directory.path().join("work")).unwrap();
        fs::write(directory.path().join("work/poem.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(directory.path().join("secret.txt"), "secret").unwrap();
        directory
    }

    #[tokio::test]
    async fn all_or_some_lines_are_read() {
        let directory = workspace();
        assert_eq!(read(&directory, json!({"path": "poem.txt"})).await.unwrap(), "one\ntwo\nthree\n");
        let second_line = json!({"path": "poem.txt", "first_line": 2, "last_line": 2});
        assert_eq!(read(&directory, second_line).await.unwrap(), "two\n");
        let past_the_end = json!({"path": "poem.txt", "first_line": 9});
        assert_eq!(read(&directory, past_the_end).await.unwrap(), "");
    }

    #[tokio::test]
    async fn long_files_are_truncated_with_a_note() {
        let directory = workspace();
        fs::write(directory.path().join("work/long.txt"), "x".repeat(MAX_TOOL_OUTPUT_BYTES + 5)).unwrap();
        let text = read(&directory, json!({"path": "long.txt"})).await.unwrap();
        assert!(text.ends_with("[cut: 30000 of 30005 bytes shown]"), "{}", &text[text.len() - 50..]);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_plan_shows_reads_outside_the_workspace() {
        let directory = workspace();
        std::os::unix::fs::symlink(directory.path().join("secret.txt"), directory.path().join("work/link"))
            .unwrap();
        let absolute = directory.path().join("secret.txt").to_string_lossy().into_owned();
        for path in ["../secret.txt", "link", &absolute] {
            let plan = plan(&directory, json!({"path": path})).await;
            assert!(matches!(plan.accesses[..], [Access::ReadOutside(_)]), "{path}: {plan:?}");
        }
    }

    #[tokio::test]
    async fn unreadable_files_have_clear_errors() {
        let directory = workspace();
        fs::write(directory.path().join("work/binary"), [0xff, 0xfe]).unwrap();
        for (arguments, expected) in [
            (json!({"path": "none.txt"}), "cannot read none.txt"),
            (json!({"path": "."}), "cannot read .: it is not a regular file"),
            (json!({"path": "binary"}), "binary is neither text nor a PNG"),
            (json!({"file": "poem.txt"}), "invalid arguments"),
        ] {
            let error = read(&directory, arguments).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
