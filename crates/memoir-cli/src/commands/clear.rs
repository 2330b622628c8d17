//! `/clear`: an empty screen.

use std::io::{Write as _, stdout};

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, _app: &mut App) -> Result<Next, Failure> {
        // To the upper left, then everything away.
        write!(stdout(), "\x1b[H\x1b[2J")?;
        stdout().flush()?;
        Ok(Next::Prompt)
    }
}
