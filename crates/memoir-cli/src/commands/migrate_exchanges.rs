//! `/migrate-exchanges`: messages whose exchange is missing get it back.

use anstream::println;

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        match app.session.store().group_messages().await? {
            0 => println!("Every message belongs to an exchange."),
            1 => println!("1 exchange was made of messages that had none."),
            many => println!("{many} exchanges were made of messages that had none."),
        }
        Ok(Next::Prompt)
    }
}
