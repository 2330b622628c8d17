//! `execute_bash`: a command, confined.

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
    command: String,
    timeout: Option<u64>,
}

pub(crate) struct ExecuteBash;

#[async_trait]
impl Tool for ExecuteBash {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "execute_bash",
            "Run a command with bash in the workspace. It may write only in the workspace and the temporary directory, finds no keys \
             in its environment, and is ended with all that it has started when it is over.",
            object(
                json!({
                    "command": {"type": "string", "description": "The command."},
                    "timeout": timeout_property()
                }),
                &["command"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, _context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { command, .. } = parse(arguments)?;
        Ok(plan(command))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { command, timeout } = parse(&arguments)?;
        interpret("bash", &command, timeout, context).await
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn gives_what_a_command_said_and_how_it_ended() {
        let bench = Bench::with_commands().await;
        let run = async |command: &str| bench.run(&ExecuteBash, json!({"command": command})).await.unwrap();
        assert_eq!(run("echo hello; pwd | grep -c work").await, "hello\n1\n");
        assert_eq!(run("echo no >&2; exit 4").await, "It ended with code 4.\n\n[stderr]\nno\n");
        assert_eq!(run("true").await, "It said nothing.");
        assert!(run("yes | head -c 5000000").await.contains("[cut: 30000 of 1048576 bytes shown]"));
        assert!(run("cat").await.contains("It said nothing."), "there is nothing on stdin");
        let late = bench.run(&ExecuteBash, json!({"command": "sleep 60", "timeout": 1})).await.unwrap();
        assert!(late.starts_with("It took longer than 1 s"), "{late}");
        for arguments in
            [json!({"command": "true", "timeout": 301}), json!({"command": "true", "timeout": 0}), json!({})]
        {
            assert!(bench.run(&ExecuteBash, arguments).await.is_err());
        }
    }
}
