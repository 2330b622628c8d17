//! `/new`: the conversation ends, the next begins.

use anstream::println;
use memoir_agent::CurrentConversation;

use super::{Next, RunCommand};
use memoir_runtime::failure::Failure;

use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        // The conversation may be one of another project; the next belongs to this one.
        app.session.enter(CurrentConversation::begin(app.session.project.clone())).await;
        println!(
            "A new conversation. Window, summary and pinned instructions begin empty; core memory stays."
        );
        Ok(Next::Prompt)
    }
}
