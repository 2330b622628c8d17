//! `/mcp`: shows the state of the MCP servers.

use memoir_runtime::Failure;

use super::{Next, RunCommand};
use crate::{app::App, render};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        say!("{}", render::servers::list(&app.session.servers()));
        Ok(Next::Prompt)
    }
}
