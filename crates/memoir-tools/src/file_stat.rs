//! `file_stat`: what is known of a file or folder.

use async_trait::async_trait;
use cap_std::fs::PermissionsExt as _;
use memoir_core::{Timestamp, ToolSpec};
use serde_json::Value;

use crate::{
    Plan, Tool, ToolContext, ToolError, ToolOutput,
    paths::{locate, one_path, reads},
};

pub(crate) struct FileStat;

#[async_trait]
impl Tool for FileStat {
    fn spec(&self) -> ToolSpec {
        one_path(
            "file_stat",
            "Tell what a path in the workspace is: kind, size, permissions, when it was changed.",
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        reads(arguments, context)
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (path, inside) = locate(&arguments, context)?;
        let failed = |error: std::io::Error| ToolError::Failed(format!("cannot look at {path}: {error}"));
        let metadata = inside.metadata().map_err(failed)?;
        let kind = if metadata.is_dir() {
            "folder"
        } else if metadata.is_file() {
            "file"
        } else {
            "something else"
        };
        let changed = metadata.modified().ok().and_then(|time| {
            let since = time.into_std().duration_since(std::time::UNIX_EPOCH).ok()?;
            i64::try_from(since.as_millis()).ok()
        });
        let changed = changed.map_or_else(
            || "unknown".into(),
            |millis| Timestamp::from_millis(millis).minute_in(&context.recall.zone),
        );
        let mode = metadata.permissions().mode() & 0o7777;
        let text =
            format!("{path}: {kind}\nsize: {} bytes\nmode: {mode:o}\nchanged: {changed}\n", metadata.len());
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn tells_what_something_is() {
        let bench = Bench::new().await;
        bench.file("a", "four");
        let text = bench.run(&FileStat, json!({"path": "a"})).await.unwrap();
        assert!(text.starts_with("a: file\nsize: 4 bytes\nmode: "), "{text}");
        assert!(bench.run(&FileStat, json!({"path": "."})).await.unwrap().starts_with(".: folder"));
        assert!(bench.run(&FileStat, json!({"path": "none"})).await.is_err());
        assert!(bench.run(&FileStat, json!({"path": "../memory"})).await.is_err());
    }
}
