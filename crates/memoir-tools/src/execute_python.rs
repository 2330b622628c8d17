//! `execute_python`: runs a Python program in the sandbox.
//!
//! Python runs in isolated mode. Otherwise `import json` would run a `json.py` of the project, which the user does not
//! see in the question.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Plan, Tool, ToolContext, ToolError, ToolOutput,
    execute::{interpret, plan, timeout_property},
    tool::{object, parse},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    code: String,
    timeout: Option<u64>,
}

pub(crate) struct ExecutePython;

#[async_trait]
impl Tool for ExecutePython {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "execute_python",
            "Run a Python program in the workspace, with the same restrictions as execute_bash. Modules of the project are imported only if the program adds their directory to sys.path.",
            object(
                json!({
                    "code": {"type": "string", "description": "Source code of the program."},
                    "timeout": timeout_property()
                }),
                &["code"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, _context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { code, .. } = parse(arguments)?;
        Ok(plan(code))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { code, timeout } = parse(&arguments)?;
        interpret("python3", &["-I", "-c"], &code, timeout, context).await
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

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
