//! `/doctor`: checks the installation.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{app::App, subcommands::doctor};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let runtime = &app.session.runtime;
        doctor::run(runtime.home(), runtime.project(), &runtime.models().environment, false).await?;
        Ok(Next::Prompt)
    }
}
