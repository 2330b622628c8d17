//! `/exit`: exits the REPL.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, _app: &mut App) -> Result<Next, Failure> {
        Ok(Next::Quit)
    }
}
