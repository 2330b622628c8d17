//! `/resume`: going on with an earlier conversation.

use anstream::println;
use async_trait::async_trait;
use memoir_agent::CurrentConversation;
use memoir_core::ConversationId;

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
    printable::printable,
    repl, talks,
};

pub(super) struct Resume;

#[async_trait]
impl Command for Resume {
    fn name(&self) -> &'static str {
        "resume"
    }

    fn arguments(&self) -> &'static str {
        "[CONVERSATION]"
    }

    fn summary(&self) -> &'static str {
        "Go on with an earlier conversation; without a number, choose."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let id = match arguments {
            "" => repl::pick_conversation(app.agent.store.as_ref(), &app.zone).await?,
            number => Some(ConversationId::new(number.parse().map_err(|_| {
                Failure::new(Kind::Usage, format!("\"{number}\" is not the number of a conversation"))
                    .hint("/resume alone lets you choose by title.")
            })?)),
        };
        let Some(id) = id else { return Ok(Next::Prompt) };
        let found = talks::find(id, app.agent.store.as_ref()).await?;
        println!("Going on with conversation {id}: {}", printable(&found.title));
        let resumed = CurrentConversation::resume(app.agent.store.as_ref(), found.id, found.scope).await?;
        app.enter(resumed).await;
        Ok(Next::Prompt)
    }
}
