//! What the tools that run commands share: time limits and how output is reported.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    Access, Plan, ToolContext, ToolError, ToolOutput,
    output::{LONGEST_OUTPUT, cap},
    sandbox::{CommandEnd, CommandOutput},
};

/// How long a command may take, if nothing is said, and at most: in seconds.
const USUAL: u64 = 30;
const LONGEST: u64 = 300;

/// The schema of a time limit.
pub(crate) fn timeout_property() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": LONGEST, "description": "Seconds after which it is ended; 30 if left out."})
}

/// How long a command is waited for: as asked, or as usual.
fn patience(seconds: Option<u64>) -> Result<(u64, Duration), ToolError> {
    let seconds = seconds.unwrap_or(USUAL);
    match seconds {
        1..=LONGEST => Ok((seconds, Duration::from_secs(seconds))),
        _ => Err(ToolError::Arguments(format!("timeout is 1 to {LONGEST} seconds"))),
    }
}

/// Whether the notice was shown that commands are not confined here.
static NOTICE_SHOWN: AtomicBool = AtomicBool::new(false);

/// Returns the plan of running a program.
pub(crate) fn plan(program: String) -> Plan {
    Plan::new(Access::Run(program.clone())).with_preview(program)
}

/// Runs a program with an interpreter and reports its output.
pub(crate) async fn interpret(
    interpreter: &str,
    program: &str,
    timeout: Option<u64>,
    context: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let (seconds, patience) = patience(timeout)?;
    let ran = context.sandbox.run(&context.workspace, interpreter, &["-c", program], patience).await?;
    Ok(output(&ran, seconds, context))
}

/// What the model is told of a command.
fn output(ran: &CommandOutput, seconds: u64, context: &ToolContext) -> ToolOutput {
    let mut text = match ran.end {
        CommandEnd::TimedOut => {
            format!("It took longer than {seconds} s and was ended, with all that it had started.\n")
        }
        CommandEnd::Signal => "It was ended by a signal.\n".into(),
        CommandEnd::Code(0) => String::new(),
        CommandEnd::Code(code) => format!("It ended with code {code}.\n"),
    };
    text.push_str(&cap(&ran.stdout, LONGEST_OUTPUT));
    if !ran.stderr.is_empty() {
        text.push_str(&format!("\n[stderr]\n{}", cap(&ran.stderr, LONGEST_OUTPUT / 2)));
    }
    if text.is_empty() {
        text.push_str("It said nothing.");
    }
    let unconfined = !context.sandbox.confines() && !NOTICE_SHOWN.swap(true, Ordering::Relaxed);
    let notice = unconfined.then(|| {
        "Commands are not confined here: this kernel has no Landlock. They may write wherever you may."
            .to_owned()
    });
    ToolOutput { text, notice }
}
