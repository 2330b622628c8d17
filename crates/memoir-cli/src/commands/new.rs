//! `/new`: the conversation ends, the next begins.

use anstream::println;
use async_trait::async_trait;
use memoir_agent::CurrentConversation;

use super::{Command, Next};
use crate::{app::App, failure::Failure};

pub(super) struct New;

#[async_trait]
impl Command for New {
    fn name(&self) -> &'static str {
        "new"
    }

    fn summary(&self) -> &'static str {
        "End this conversation and begin another; core memory stays."
    }

    async fn run(&self, _arguments: &str, app: &mut App) -> Result<Next, Failure> {
        // The conversation may be one of another project; the next belongs to this one.
        app.enter(CurrentConversation::begin(app.project.clone())).await;
        println!(
            "A new conversation. Window, summary and pinned instructions begin empty; core memory stays."
        );
        Ok(Next::Prompt)
    }
}
