//! Shared code of the tools that run commands: time limits and the format of the output.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    Access, Plan, ToolContext, ToolError, ToolOutput,
    output::{MAX_TOOL_OUTPUT_BYTES, truncate_output},
    protected::CreatedName,
    sandbox::{CommandEnd, CommandOutput, Program},
    tool::object,
};

const DEFAULT_SECONDS: u64 = 30;
const MAX_SECONDS: u64 = 300;

/// What a command with access to the network can reach.
const ANY_ADDRESS: &str = "any address";

/// Returns the JSON schema of the arguments: `name`, which has a description, and the options.
pub(crate) fn parameters(name: &str, description: &str) -> Value {
    let properties = json!({
        name: {"type": "string", "description": description},
        "timeout": {"type": "integer", "minimum": 1, "maximum": MAX_SECONDS, "description": "Time limit in seconds; 30 by default."},
        "network": {"type": "boolean", "description": "Let it use the network, for which the user is asked. By default it cannot open connections."}
    });
    object(properties, &[name])
}

/// Returns the time limit in seconds, or an error if it is out of range.
fn check_timeout(seconds: Option<u64>) -> Result<u64, ToolError> {
    match seconds.unwrap_or(DEFAULT_SECONDS) {
        seconds @ 1..=MAX_SECONDS => Ok(seconds),
        _ => Err(ToolError::Arguments(format!("timeout must be between 1 and {MAX_SECONDS} seconds"))),
    }
}

/// Whether the user was told that commands are not confined.
static NOTICE_SHOWN: AtomicBool = AtomicBool::new(false);

/// Returns the plan of running a program.
pub(crate) fn plan(program: String, network: bool) -> Plan {
    let mut plan = Plan::new(Access::Run(program.clone())).with_preview(program);
    plan.accesses.extend(network.then(|| Access::Network(ANY_ADDRESS.into())));
    plan
}

/// How to run a program.
pub(crate) struct RunOptions {
    /// Time limit in seconds.
    pub(crate) timeout: Option<u64>,
    /// Whether it may use the network.
    pub(crate) network: bool,
}

/// Runs a program with an interpreter and reports its output. The program follows the interpreter's `arguments`.
pub(crate) async fn interpret<'a>(
    interpreter: &'a str,
    mut arguments: Vec<&'a str>,
    program: &'a str,
    options: RunOptions,
    context: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let seconds = check_timeout(options.timeout)?;
    arguments.push(program);
    let (network, timeout) = (options.network, Duration::from_secs(seconds));
    let program = Program { name: interpreter, arguments, network, timeout };
    let output = context.sandbox.run(&context.workspace, &program, context.reporter.as_ref()).await?;
    Ok(describe_output(&output, seconds, context))
}

/// Formats the output and the exit status of a command for the model.
fn describe_output(output: &CommandOutput, seconds: u64, context: &ToolContext) -> ToolOutput {
    let mut text = match output.end {
        CommandEnd::TimedOut => {
            format!("Timed out after {seconds} s; the command and everything it started were killed.\n")
        }
        CommandEnd::Signal => "The command was killed by a signal.\n".into(),
        CommandEnd::Code(0) => String::new(),
        CommandEnd::Code(code) => format!("The command failed with exit code {code}.\n"),
    };
    text.push_str(&truncate_output(&output.stdout, MAX_TOOL_OUTPUT_BYTES));
    if !output.stderr.is_empty() {
        text.push_str(&format!("\n[stderr]\n{}", truncate_output(&output.stderr, MAX_TOOL_OUTPUT_BYTES / 2)));
    }
    if text.is_empty() {
        text.push_str("The command printed nothing.");
    }
    for CreatedName { path, new_path } in &output.created {
        let what = match new_path.as_ref().and_then(|path| path.file_name()) {
            Some(name) => format!("was renamed {}", name.to_string_lossy()),
            None => "could not be renamed".into(),
        };
        let path = path.display();
        text.push_str(&format!("\n{path} {what}: commands may create it only if the user was asked."));
    }
    let needs_notice = !context.sandbox.confines() && !NOTICE_SHOWN.swap(true, Ordering::Relaxed);
    let notice = needs_notice.then(|| {
        "Commands are not confined here: this kernel has no Landlock. They can write wherever you can."
            .to_owned()
    });
    ToolOutput { text, images: Vec::new(), notice }
}
