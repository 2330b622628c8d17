//! `/new`: the conversation ends, the next begins.

use anstream::println;
use async_trait::async_trait;
use memoir_agent::CurrentConversation;
use memoir_core::Recalled;

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
        app.conversation = CurrentConversation::begin(app.project.clone());
        crate::repl::let_workers_go_on(app).await;
        (app.last_recalled, app.last_context) = (Recalled::default(), None);
        println!(
            "A new conversation. Window, summary and pinned instructions begin empty; core memory stays."
        );
        Ok(Next::Prompt)
    }
}
