//! `/search`: searches conversations and documents.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{app::App, args::SearchArgs, subcommands::search};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    search: SearchArgs,
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        search::run(self.search, &app.session.runtime, app.session.recall()).await?;
        Ok(Next::Prompt)
    }
}
