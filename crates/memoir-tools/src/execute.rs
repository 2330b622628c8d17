//! `execute_bash` and `execute_python`: commands, confined.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput,
    output::{LONGEST_OUTPUT, cap},
    sandbox::{End, Ran},
    tool::{object, parse},
};

/// How long a command may take, if nothing is said, and at most: in seconds.
const USUAL: u64 = 30;
const LONGEST: u64 = 300;

fn timeout_property() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": LONGEST, "description": "Seconds after which it is ended; 30 if left out."})
}

fn patience(seconds: Option<u64>) -> Result<(u64, Duration), ToolError> {
    let seconds = seconds.unwrap_or(USUAL);
    match seconds {
        1..=LONGEST => Ok((seconds, Duration::from_secs(seconds))),
        _ => Err(ToolError::Arguments(format!("timeout is 1 to {LONGEST} seconds"))),
    }
}

/// Whether the user was told that commands are not confined here.
static TOLD: AtomicBool = AtomicBool::new(false);

fn output(ran: &Ran, seconds: u64, context: &ToolContext) -> ToolOutput {
    let mut text = match ran.end {
        End::TimedOut => {
            format!("It took longer than {seconds} s and was ended, with all that it had started.\n")
        }
        End::Signal => "It was ended by a signal.\n".into(),
        End::Code(0) => String::new(),
        End::Code(code) => format!("It ended with code {code}.\n"),
    };
    text.push_str(&cap(&ran.stdout, LONGEST_OUTPUT));
    if !ran.stderr.is_empty() {
        text.push_str(&format!("\n[stderr]\n{}", cap(&ran.stderr, LONGEST_OUTPUT / 2)));
    }
    if text.is_empty() {
        text.push_str("It said nothing.");
    }
    let unconfined = !context.sandbox.confines() && !TOLD.swap(true, Ordering::Relaxed);
    let notice = unconfined.then(|| {
        "Commands are not confined here: this kernel has no Landlock. They may write wherever you may."
            .to_owned()
    });
    ToolOutput { text, notice }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BashArguments {
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
        let BashArguments { command, .. } = parse(arguments)?;
        Ok(Plan::of(Access::Run(command.clone())).shown(command))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let BashArguments { command, timeout } = parse(&arguments)?;
        let (seconds, patience) = patience(timeout)?;
        let ran = context.sandbox.run(&context.workspace, "bash", &["-c", &command], patience).await?;
        Ok(output(&ran, seconds, context))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PythonArguments {
    code: String,
    timeout: Option<u64>,
}

pub(crate) struct ExecutePython;

#[async_trait]
impl Tool for ExecutePython {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "execute_python",
            "Run a Python program in the workspace, under the same rules as execute_bash.",
            object(
                json!({
                    "code": {"type": "string", "description": "The program."},
                    "timeout": timeout_property()
                }),
                &["code"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, _context: &ToolContext) -> Result<Plan, ToolError> {
        let PythonArguments { code, .. } = parse(arguments)?;
        Ok(Plan::of(Access::Run(code.clone())).shown(code))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let PythonArguments { code, timeout } = parse(&arguments)?;
        let (seconds, patience) = patience(timeout)?;
        let ran = context.sandbox.run(&context.workspace, "python3", &["-c", &code], patience).await?;
        Ok(output(&ran, seconds, context))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::{Sandbox, testing::Bench};

    async fn bench() -> Bench {
        let mut bench = Bench::new().await;
        bench.context.sandbox = Sandbox {
            variables: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
            ..Sandbox::default()
        };
        bench
    }

    #[tokio::test]
    async fn gives_what_a_command_said_and_how_it_ended() {
        let bench = bench().await;
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

    #[tokio::test]
    async fn runs_python() {
        let bench = bench().await;
        let said = bench.run(&ExecutePython, json!({"code": "print(6 * 7)"})).await.unwrap();
        assert_eq!(said, "42\n");
        let said = bench.run(&ExecutePython, json!({"code": "raise SystemExit(3)"})).await.unwrap();
        assert_eq!(said, "It ended with code 3.\n");
    }
}
