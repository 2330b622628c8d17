//! `file_read`: a text file of the workspace, whole or by lines.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Tool, ToolContext, ToolError, ToolOutput,
    output::{LONGEST_OUTPUT, cap},
};

/// A file larger than this is not read into memory.
const LARGEST_FILE: u64 = 10 * 1024 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    first_line: Option<usize>,
    last_line: Option<usize>,
}

pub(crate) struct FileRead;

#[async_trait]
impl Tool for FileRead {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "file_read",
            description: "Read a text file in the workspace, whole or from one line to another.",
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Path of the file, relative to the workspace."},
                    "first_line": {"type": "integer", "minimum": 1, "description": "First line to read; 1 if left out."},
                    "last_line": {"type": "integer", "minimum": 1, "description": "Last line to read; the end if left out."}
                },
                "required": ["path"],
                "additionalProperties": false
            }),
        }
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Arguments { path, first_line, last_line } =
            serde_json::from_value(arguments).map_err(|error| ToolError::Arguments(error.to_string()))?;
        let real = context.existing_path(&path)?;
        let failed = |error: std::io::Error| ToolError::Failed(format!("cannot read {path}: {error}"));
        let metadata = tokio::fs::metadata(&real).await.map_err(failed)?;
        if !metadata.is_file() {
            return Err(ToolError::Failed(format!("{path} is not a file")));
        }
        if metadata.len() > LARGEST_FILE {
            return Err(ToolError::Failed(format!("{path} is too large to read ({} bytes)", metadata.len())));
        }
        let text = String::from_utf8(tokio::fs::read(&real).await.map_err(failed)?)
            .map_err(|_| ToolError::Failed(format!("{path} is not text")))?;
        Ok(cap(&lines(&text, first_line.unwrap_or(1), last_line), LONGEST_OUTPUT).into())
    }
}

fn lines(text: &str, first: usize, last: Option<usize>) -> String {
    if first <= 1 && last.is_none() {
        return text.to_owned();
    }
    let skipped = first.saturating_sub(1);
    let taken = last.map_or(usize::MAX, |last| last.saturating_sub(skipped));
    text.split_inclusive('\n').skip(skipped).take(taken).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use std::fs;

    use memoir_store::sqlite::SqliteStore;
    use tempfile::TempDir;

    use super::*;
    use crate::testing;

    async fn read(directory: &TempDir, arguments: Value) -> Result<String, ToolError> {
        let store = SqliteStore::open(&directory.path().join("memory/memoir.db")).await.unwrap();
        let workspace = directory.path().join("work");
        let context = testing::context(&workspace, store);
        FileRead.run(arguments, &context).await.map(|output| output.text)
    }

    fn workspace() -> TempDir {
        let directory = TempDir::new().unwrap();
        fs::create_dir(directory.path().join("work")).unwrap();
        fs::write(directory.path().join("work/poem.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(directory.path().join("secret.txt"), "secret").unwrap();
        directory
    }

    #[tokio::test]
    async fn reads_all_or_some_lines() {
        let directory = workspace();
        assert_eq!(read(&directory, json!({"path": "poem.txt"})).await.unwrap(), "one\ntwo\nthree\n");
        let some = json!({"path": "poem.txt", "first_line": 2, "last_line": 2});
        assert_eq!(read(&directory, some).await.unwrap(), "two\n");
        let past_the_end = json!({"path": "poem.txt", "first_line": 9});
        assert_eq!(read(&directory, past_the_end).await.unwrap(), "");
    }

    #[tokio::test]
    async fn a_long_file_is_cut_and_says_so() {
        let directory = workspace();
        fs::write(directory.path().join("work/long.txt"), "x".repeat(LONGEST_OUTPUT + 5)).unwrap();
        let text = read(&directory, json!({"path": "long.txt"})).await.unwrap();
        assert!(text.ends_with("[cut: 30000 of 30005 bytes shown]"), "{}", &text[text.len() - 50..]);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn nothing_leads_out_of_the_workspace() {
        let directory = workspace();
        std::os::unix::fs::symlink(directory.path().join("secret.txt"), directory.path().join("work/link"))
            .unwrap();
        let absolute = directory.path().join("secret.txt").to_string_lossy().into_owned();
        for path in ["../secret.txt", "link", &absolute] {
            let refused = read(&directory, json!({"path": path})).await;
            assert!(matches!(refused, Err(ToolError::OutsideWorkspace(_))), "{path}: {refused:?}");
        }
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_said_plainly() {
        let directory = workspace();
        fs::write(directory.path().join("work/binary"), [0xff, 0xfe]).unwrap();
        for (arguments, said) in [
            (json!({"path": "none.txt"}), "cannot open none.txt"),
            (json!({"path": "."}), ". is not a file"),
            (json!({"path": "binary"}), "binary is not text"),
            (json!({"file": "poem.txt"}), "the arguments do not fit"),
        ] {
            let error = read(&directory, arguments).await.unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
