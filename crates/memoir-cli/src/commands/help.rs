//! `/help`: all commands.

use anstream::println;
use async_trait::async_trait;

use super::{ALL, Command, Next, usage};
use crate::{app::App, failure::Failure};

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
        let width = ALL.iter().map(|command| usage(*command).len()).max().unwrap_or(0);
        for command in ALL {
            println!("{:width$}  {}", usage(*command), command.summary());
        }
        println!(
            "\nAlt-Enter starts a new line, Ctrl-R searches earlier ones, Ctrl-C cancels, Ctrl-D quits."
        );
        Ok(Next::Prompt)
    }
}
