//! `/fork`: another conversation that begins with this one.

use anstream::println;
use memoir_runtime::{Failure, Fork};

use super::{Next, RunCommand};
use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let Fork { parent, id } = app.session.fork().await?;
        println!("This is conversation {id} now, which began as {parent}. /resume {parent} goes back.");
        Ok(Next::Prompt)
    }
}
