//! `/config`: shows and changes settings.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{app::App, args::ConfigCommand, subcommands::config};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<ConfigCommand>,
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let changes = matches!(self.command, Some(ConfigCommand::Set { .. } | ConfigCommand::Unset { .. }));
        config::run(self.command, &app.session.runtime).await?;
        if changes {
            say!("The change applies when Memoir starts again.");
        }
        Ok(Next::Prompt)
    }
}
