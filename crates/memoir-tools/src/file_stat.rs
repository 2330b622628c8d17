//! `file_stat`: shows the metadata of a file or directory.

use async_trait::async_trait;
use cap_std::fs::PermissionsExt as _;
use memoir_core::{Timestamp, ToolSpec};
use serde_json::Value;

use crate::{
    Plan, Tool, ToolContext, ToolError, ToolOutput,
    output::count,
    paths::{locate, one_path_spec, plan_read},
};

pub(crate) struct FileStat;

#[async_trait]
impl Tool for FileStat {
    fn spec(&self) -> ToolSpec {
        one_path_spec(
            "file_stat",
            "Show the type, size, permissions and modification time of a path in the workspace.",
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        plan_read(arguments, context)
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (path, location) = locate(&arguments, context)?;
        let failed = |error: std::io::Error| ToolError::Failed(format!("cannot inspect {path}: {error}"));
        let metadata = location.metadata().map_err(failed)?;
        let kind = if metadata.is_dir() {
            "directory"
        } else if metadata.is_file() {
            "file"
        } else {
            "special file"
        };
        let modified = metadata.modified().ok().and_then(|time| {
            let since_epoch = time.into_std().duration_since(std::time::UNIX_EPOCH).ok()?;
            i64::try_from(since_epoch.as_millis()).ok()
        });
        let modified = modified.map_or_else(
            || "unknown".into(),
            |millis| Timestamp::from_millis(millis).format_minute(&context.recall.zone),
        );
        let mode = metadata.permissions().mode() & 0o7777;
        let size = count(metadata.len(), "byte");
        let text = format!("{path}: {kind}\nsize: {size}\nmode: {mode:o}\nmodified: {modified}\n");
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
    async fn metadata_is_shown() {
        let bench = Bench::new().await;
        bench.file("a", "four");
        let text = bench.run(&FileStat, json!({"path": "a"})).await.unwrap();
        assert!(text.starts_with("a: file\nsize: 4 bytes\nmode: "), "{text}");
        assert!(bench.run(&FileStat, json!({"path": "."})).await.unwrap().starts_with(".: directory"));
        assert!(bench.run(&FileStat, json!({"path": "none"})).await.is_err());
        assert!(bench.run(&FileStat, json!({"path": "../memory"})).await.is_err());
    }
}
