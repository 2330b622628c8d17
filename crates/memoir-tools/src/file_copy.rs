//! `file_copy`: copies a file in the workspace.

use async_trait::async_trait;
use cap_std::fs::Permissions;
use memoir_core::ToolSpec;
use serde_json::Value;

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput,
    output::count,
    paths::{PathPair, two_path_spec},
    workspace::read_file,
};

const MAX_BYTES: u64 = 100 * 1024 * 1024;

pub(crate) struct FileCopy;

#[async_trait]
impl Tool for FileCopy {
    fn spec(&self) -> ToolSpec {
        two_path_spec("file_copy", "Copy a file within the workspace. Existing files are not overwritten.")
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        Ok(PathPair::parse(arguments, context)?.plan("copy", Access::Read, &context.workspace))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let paths = PathPair::parse(&arguments, context)?;
        paths.check_target_is_free()?;
        let PathPair { from, source, to, target } = paths;
        let failed =
            |error: std::io::Error| ToolError::Failed(format!("cannot copy {from} to {to}: {error}"));
        let file = source.open_file().map_err(failed)?;
        let permissions = Permissions::from_std(file.metadata().map_err(failed)?.permissions());
        let bytes = read_file(file, MAX_BYTES).map_err(failed)?;
        let result = target.create_parent().and_then(|()| target.write(&bytes, Some(permissions)));
        result.map_err(failed)?;
        Ok(format!("Copied {from} to {to} ({})", count(bytes.len() as u64, "byte")).into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn files_are_copied_and_never_overwritten() {
        let bench = Bench::new().await;
        bench.file("a", "one");
        bench.run(&FileCopy, json!({"from": "a", "to": "deep/b"})).await.unwrap();
        assert_eq!((bench.read("a").as_str(), bench.read("deep/b").as_str()), ("one", "one"));
        for (from, to, expected) in [
            ("a", "deep/b", "exists"),
            ("none", "c", "cannot copy"),
            ("a", "../c", "outside"),
            ("/etc/passwd", "c", "outside"),
        ] {
            let error = bench.run(&FileCopy, json!({"from": from, "to": to})).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
