//! `/new`: the conversation ends, the next begins.

use anstream::println;
use memoir_runtime::Failure;

use super::{Next, RunCommand};
use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        app.session.start_conversation().await;
        println!(
            "A new conversation. Window, summary and pinned instructions begin empty; core memory stays."
        );
        Ok(Next::Prompt)
    }
}
