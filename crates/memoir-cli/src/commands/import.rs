//! `/import`: imports histories of other programs.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{app::App, args::ImportCommand, subcommands::import};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<ImportCommand>,
}

impl RunCommand for Arguments {
    const NEEDS_MEMORY: bool = true;

    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let command = self.command.unwrap_or(ImportCommand::Found);
        let runtime = &app.session.runtime;
        import::run(command, &runtime.models().environment, app.session.store(), runtime.zone()).await?;
        // The import may have extended the current conversation. Without a refresh, that looks like a conflict.
        app.session.refresh_conversation().await?;
        Ok(Next::Prompt)
    }
}
