//! `file_copy`: a file of the workspace, once more.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde_json::Value;

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput,
    paths::{PathPair, two_paths},
};

/// A file larger than this is copied by other means.
const LARGEST_COPY: u64 = 100 * 1024 * 1024;

pub(crate) struct FileCopy;

#[async_trait]
impl Tool for FileCopy {
    fn spec(&self) -> ToolSpec {
        two_paths("file_copy", "Copy a file within the workspace. What exists is not overwritten.")
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        Ok(PathPair::parse(arguments, context)?.plan("copy", Access::Read))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let both = PathPair::parse(&arguments, context)?;
        both.target_is_free()?;
        let PathPair { from, source, to, target } = both;
        let failed =
            |error: std::io::Error| ToolError::Failed(format!("cannot copy {from} to {to}: {error}"));
        let bytes = source.read(LARGEST_COPY).map_err(failed)?;
        let written = target.create_parent().and_then(|()| target.write(&bytes));
        written.and_then(|()| target.take_mode_of(&source)).map_err(failed)?;
        Ok(format!("{to} is a copy of {from} ({} bytes)", bytes.len()).into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn copies_and_overwrites_nothing() {
        let bench = Bench::new().await;
        bench.file("a", "one");
        bench.run(&FileCopy, json!({"from": "a", "to": "deep/b"})).await.unwrap();
        assert_eq!((bench.read("a").as_str(), bench.read("deep/b").as_str()), ("one", "one"));
        for (from, to, said) in [
            ("a", "deep/b", "exists"),
            ("none", "c", "cannot copy"),
            ("a", "../c", "outside"),
            ("/etc/passwd", "c", "outside"),
        ] {
            let error = bench.run(&FileCopy, json!({"from": from, "to": to})).await.unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
