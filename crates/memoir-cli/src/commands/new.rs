//! `/new`: starts a new conversation.

use memoir_runtime::Failure;

use super::{Next, RunCommand};
use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        app.session.start_conversation().await;
        say!("Started a new conversation with an empty context; core memory stays.");
        Ok(Next::Prompt)
    }
}
