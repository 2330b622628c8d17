//! `/help`: all commands.

use anstream::println;
use async_trait::async_trait;

use super::{ALL, Command, Next, find, usage};
use crate::{app::App, failure::Failure};

/// Where the summaries begin.
const WIDTH: usize = 19;

/// How many commands one page has.
pub(super) const PAGE: usize = 18;

pub(super) struct Help;

#[async_trait]
impl Command for Help {
    fn name(&self) -> &'static str {
        "help"
    }

    fn arguments(&self) -> &'static str {
        "[PAGE | COMMAND]"
    }

    fn summary(&self) -> &'static str {
        "Show all commands, or how one is used."
    }

    async fn run(&self, arguments: &str, _app: &mut App) -> Result<Next, Failure> {
        let page = match arguments {
            "" => Some(1),
            number => number.parse::<usize>().ok(),
        };
        let Some(page) = page else {
            let command = find(arguments.trim_start_matches('/'))?;
            println!("{}\n{}", usage(command), command.summary());
            return Ok(Next::Prompt);
        };
        let pages = ALL.len().div_ceil(PAGE);
        let page = page.clamp(1, pages);
        for command in &ALL[(page - 1) * PAGE..(page * PAGE).min(ALL.len())] {
            let usage = usage(*command);
            // A long usage would take a line of its own; /help COMMAND has it.
            let usage = if usage.len() > WIDTH { format!("/{} …", command.name()) } else { usage };
            println!("{usage:WIDTH$}  {}", command.summary());
        }
        if page < pages {
            println!("/help {:<13}  Show more commands; /help COMMAND shows how one is used.", page + 1);
        }
        println!("\nTab: complete. @file: attach. !command: run. Alt-Enter: new line. Ctrl-R: search.");
        Ok(Next::Prompt)
    }
}
