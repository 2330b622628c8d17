//! `/fork`: continues in a copy of this conversation.

use memoir_runtime::{Failure, Fork};

use super::{Next, RunCommand};
use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let Fork { parent, id } = app.session.fork().await?;
        say!("This is now conversation {id}, a fork of {parent}. Return with `/resume {parent}`.");
        Ok(Next::Prompt)
    }
}
