//! `/schedule`: manages scheduled tasks.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{app::App, args::ScheduleCommand, schedule};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<ScheduleCommand>,
}

impl RunCommand for Arguments {
    const NEEDS_MEMORY: bool = true;

    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let command = self.command.unwrap_or(ScheduleCommand::List { json: false });
        let directory = std::path::PathBuf::from(&app.session.project);
        schedule::run(command, &app.tasks, &directory).await?;
        Ok(Next::Prompt)
    }
}
