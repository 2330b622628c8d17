//! `/schedule`: tasks at their time.

use async_trait::async_trait;
use clap::Parser;

use super::{Command, Next};
use crate::{
    app::App,
    args::ScheduleCommand,
    failure::{Failure, Kind},
    scheduling,
};

pub(super) struct Schedule;

/// The same arguments as on the command line.
#[derive(Debug, Parser)]
#[command(name = "/schedule", no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    #[command(subcommand)]
    command: ScheduleCommand,
}

#[async_trait]
impl Command for Schedule {
    fn name(&self) -> &'static str {
        "schedule"
    }

    fn arguments(&self) -> &'static str {
        "[list | add NAME --cron LINE PROMPT | show | run | pause | resume | remove | history NAME]"
    }

    fn summary(&self) -> &'static str {
        "Tasks that a sub-agent does at their time."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let hint = "/help schedule shows how it is used.";
        let words =
            if arguments.is_empty() { Some(vec!["list".to_owned()]) } else { shlex::split(arguments) };
        let words =
            words.ok_or_else(|| Failure::new(Kind::Usage, "a quotation mark is not closed").hint(hint))?;
        let parsed = Arguments::try_parse_from(words).map_err(|error| {
            let said = error.to_string();
            // What is wrong, without how it is used on the command line.
            let lines = said.lines().take_while(|line| !line.starts_with("Usage:"));
            let words: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
            Failure::new(Kind::Usage, words.join(" ").trim_start_matches("error: ").to_owned()).hint(hint)
        })?;
        let directory = std::path::PathBuf::from(&app.project);
        scheduling::run(parsed.command, &app.tasks, &directory).await?;
        Ok(Next::Prompt)
    }
}
