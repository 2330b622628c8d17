//! `file_read`: a text file, whole or by lines.

use std::os::unix::fs::OpenOptionsExt as _;

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput,
    output::{LONGEST_OUTPUT, cap},
    tool::{object, parse},
    workspace::{NONBLOCKING, PathLocation, read_file},
};

/// A file larger than this is not read into memory.
pub(crate) const LARGEST_FILE: u64 = 10 * 1024 * 1024;

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
            "Read a text file, whole or from one line to another. Outside the workspace the user is asked.",
            object(
                json!({
                    "path": {"type": "string", "description": "Path of the file, relative to the workspace."},
                    "first_line": {"type": "integer", "minimum": 1, "description": "First line to read; 1 if left out."},
                    "last_line": {"type": "integer", "minimum": 1, "description": "Last line to read; the end if left out."}
                }),
                &["path"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { path, .. } = parse(arguments)?;
        Ok(match context.workspace.locate(&path)? {
            PathLocation::Inside(inside) => Plan::new(Access::Read(inside.real)),
            PathLocation::Outside(real) => {
                Plan::new(Access::ReadOutside(real.clone())).with_preview(real.display().to_string())
            }
        })
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { path, first_line, last_line } = parse(&arguments)?;
        let read = match context.workspace.locate(&path)? {
            PathLocation::Inside(inside) => inside.read(LARGEST_FILE),
            // Whoever runs this has asked.
            PathLocation::Outside(real) => {
                let file = std::fs::OpenOptions::new().read(true).custom_flags(NONBLOCKING).open(real);
                file.and_then(|file| read_file(file, LARGEST_FILE))
            }
        };
        let bytes = read.map_err(|error| ToolError::Failed(format!("cannot read {path}: {error}")))?;
        let text = String::from_utf8(bytes).map_err(|_| ToolError::Failed(format!("{path} is not text")))?;
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
    async fn what_lies_outside_is_told_so_before_it_is_read() {
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
    async fn what_cannot_be_read_is_said_plainly() {
        let directory = workspace();
        fs::write(directory.path().join("work/binary"), [0xff, 0xfe]).unwrap();
        for (arguments, said) in [
            (json!({"path": "none.txt"}), "cannot read none.txt"),
            (json!({"path": "."}), "cannot read .: it is not a file"),
            (json!({"path": "binary"}), "binary is not text"),
            (json!({"file": "poem.txt"}), "the arguments do not fit"),
        ] {
            let error = read(&directory, arguments).await.unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
