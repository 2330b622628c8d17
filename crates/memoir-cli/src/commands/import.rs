//! `/import`: histories of other programs.

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
        // The import may have added to the open conversation, and that is not another session's doing.
        app.session.refresh_conversation().await?;
        Ok(Next::Prompt)
    }
}
