//! `/help`: all commands.

use anstream::println;
use async_trait::async_trait;

use super::{ALL, Command, Next, usage};
use crate::{app::App, failure::Failure};

/// Where the summaries begin.
const WIDTH: usize = 16;

pub(super) struct Help;

#[async_trait]
impl Command for Help {
    fn name(&self) -> &'static str {
        "help"
    }

    fn summary(&self) -> &'static str {
        "Show all commands."
    }

    async fn run(&self, _arguments: &str, _app: &mut App) -> Result<Next, Failure> {
        for command in ALL {
            let usage = usage(*command);
            // A long usage gets a line of its own.
            let usage = if usage.len() > WIDTH { format!("{usage}\n{:WIDTH$}", "") } else { usage };
            println!("{usage:WIDTH$}  {}", command.summary());
        }
        println!(
            "\nAlt-Enter starts a new line, Ctrl-R searches earlier ones, Ctrl-C cancels, Ctrl-D quits."
        );
        Ok(Next::Prompt)
    }
}
