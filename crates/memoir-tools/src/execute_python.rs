//! `execute_python`: runs a Python program in the sandbox.
//!
//! Python runs in isolated mode. Otherwise `import json` would run a `json.py` of the project, which the user does not
//! see in the question.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    Plan, Tool, ToolContext, ToolError, ToolOutput,
    execute::{RunOptions, interpret, parameters, plan},
    tool::parse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    code: String,
    timeout: Option<u64>,
    #[serde(default)]
    network: bool,
}

pub(crate) struct ExecutePython;

#[async_trait]
impl Tool for ExecutePython {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "execute_python",
            "Run a Python program in the workspace, with the same restrictions as execute_bash. Modules of the project are imported only if the program adds their directory to sys.path.",
            parameters("code", "Source code of the program."),
        )
    }

    async fn plan(&self, arguments: &Value, _context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { code, network, .. } = parse(arguments)?;
        Ok(plan(code, network))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { code, timeout, network } = parse(&arguments)?;
        interpret("python3", vec!["-I", "-c"], &code, RunOptions { timeout, network }, context).await
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn python_programs_run() {
        let bench = Bench::with_commands().await;
        let text = bench.run(&ExecutePython, json!({"code": "print(6 * 7)"})).await.unwrap();
        assert_eq!(text, "42\n");
        let text = bench.run(&ExecutePython, json!({"code": "raise SystemExit(3)"})).await.unwrap();
        assert_eq!(text, "The command failed with exit code 3.\n");
    }
}
