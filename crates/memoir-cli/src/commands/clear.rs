//! `/clear`: an empty screen.

use std::io::{Write as _, stdout};

use async_trait::async_trait;

use super::{Command, Next};
use crate::{app::App, failure::Failure};

pub(super) struct Clear;

#[async_trait]
impl Command for Clear {
    fn name(&self) -> &'static str {
        "clear"
    }

    fn summary(&self) -> &'static str {
        "Clear the screen; the conversation goes on (/new ends it)."
    }

    async fn run(&self, _arguments: &str, _app: &mut App) -> Result<Next, Failure> {
        // To the upper left, then everything away.
        write!(stdout(), "\x1b[H\x1b[2J")?;
        stdout().flush()?;
        Ok(Next::Prompt)
    }
}
