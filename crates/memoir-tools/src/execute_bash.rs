//! `execute_bash`: runs a command in the sandbox.

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
    command: String,
    timeout: Option<u64>,
    #[serde(default)]
    network: bool,
}

pub(crate) struct ExecuteBash;

#[async_trait]
impl Tool for ExecuteBash {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "execute_bash",
            "Run a command with bash in the workspace. It can write only to the workspace and the temporary directory, \
             and its environment contains no API keys. Processes that it leaves running are killed when it ends.",
            parameters("command", "Command to run."),
        )
    }

    async fn plan(&self, arguments: &Value, _context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { command, network, .. } = parse(arguments)?;
        Ok(plan(command, network))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { command, timeout, network } = parse(&arguments)?;
        interpret("bash", vec!["-c"], &command, RunOptions { timeout, network }, context).await
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn output_and_exit_status_are_reported() {
        let bench = Bench::with_commands().await;
        let run = async |command: &str| bench.run(&ExecuteBash, json!({"command": command})).await.unwrap();
        assert_eq!(run("echo hello; pwd | grep -c work").await, "hello\n1\n");
        assert_eq!(
            run("echo no >&2; exit 4").await,
            "The command failed with exit code 4.\n\n[stderr]\nno\n"
        );
        assert_eq!(run("true").await, "The command printed nothing.");
        assert!(run("yes | head -c 5000000").await.contains("[cut: 30000 of 1048576 bytes shown]"));
        assert!(run("cat").await.contains("The command printed nothing."), "stdin is empty");
        let text = bench.run(&ExecuteBash, json!({"command": "sleep 60", "timeout": 1})).await.unwrap();
        assert!(text.starts_with("Timed out after 1 s"), "{text}");
        for arguments in
            [json!({"command": "true", "timeout": 301}), json!({"command": "true", "timeout": 0}), json!({})]
        {
            assert!(bench.run(&ExecuteBash, arguments).await.is_err());
        }
    }
}
