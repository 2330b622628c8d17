//! `/help`: all commands.

use anstream::println;
use async_trait::async_trait;

use super::{ALL, Command, Next, find, usage};
use crate::{app::App, failure::Failure};

/// Where the summaries begin.
const WIDTH: usize = 16;

pub(super) struct Help;

#[async_trait]
impl Command for Help {
    fn name(&self) -> &'static str {
        "help"
    }

    fn arguments(&self) -> &'static str {
        "[COMMAND]"
    }

    fn summary(&self) -> &'static str {
        "Show all commands, or how one is used."
    }

    async fn run(&self, arguments: &str, _app: &mut App) -> Result<Next, Failure> {
        if !arguments.is_empty() {
            let command = find(arguments.trim_start_matches('/'))?;
            println!("{}\n{}", usage(command), command.summary());
            return Ok(Next::Prompt);
        }
        for command in ALL {
            let usage = usage(*command);
            // A long usage would take a line of its own; /help COMMAND has it.
            let usage = if usage.len() > WIDTH { format!("/{} …", command.name()) } else { usage };
            println!("{usage:WIDTH$}  {}", command.summary());
        }
        println!("\nAlt-Enter: new line. Ctrl-R: search earlier ones. Ctrl-C: cancel. Ctrl-D: quit.");
        Ok(Next::Prompt)
    }
}
