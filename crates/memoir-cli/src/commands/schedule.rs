//! `/schedule`: tasks at their time.

use async_trait::async_trait;
use clap::Parser;

use super::{Command, Next, parsing::parse};
use crate::{app::App, args::ScheduleCommand, failure::Failure, scheduling};

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
        "[list | add NAME --cron LINE PROMPT | show TASK | run TASK | pause TASK | resume TASK | remove TASK | history TASK]"
    }

    fn needs_memory(&self) -> bool {
        true
    }

    fn summary(&self) -> &'static str {
        "Tasks that a sub-agent does at their time."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let parsed: Arguments = parse("schedule", arguments, "list")?;
        let directory = std::path::PathBuf::from(&app.project);
        scheduling::run(parsed.command, &app.tasks, &directory).await?;
        Ok(Next::Prompt)
    }
}
