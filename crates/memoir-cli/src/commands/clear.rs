//! `/clear`: clears the screen.

use std::io::{Write as _, stdout};

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, _app: &mut App) -> Result<Next, Failure> {
        // Move the cursor to the top left, then erase the screen.
        write!(stdout(), "\x1b[H\x1b[2J")?;
        stdout().flush()?;
        Ok(Next::Prompt)
    }
}
