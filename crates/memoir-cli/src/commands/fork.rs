//! `/fork`: another conversation that begins with this one.

use anstream::println;
use async_trait::async_trait;
use memoir_agent::CurrentConversation;

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
};

pub(super) struct Fork;

#[async_trait]
impl Command for Fork {
    fn name(&self) -> &'static str {
        "fork"
    }

    fn summary(&self) -> &'static str {
        "Branch off here, and leave this conversation as it is."
    }

    async fn run(&self, _arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let nothing = || Failure::new(Kind::Usage, "nothing has been said here yet").hint("Just go on.");
        let from = app.state.conversation.id().ok_or_else(nothing)?;
        let fork = app.agent.store.fork(from, app.agent.clock.now()).await?.ok_or_else(nothing)?;
        let scope = app.state.conversation.scope().to_owned();
        let resumed = CurrentConversation::resume(app.agent.store.as_ref(), fork, scope).await?;
        app.enter(resumed).await;
        println!("This is conversation {fork} now, which began as {from}. /resume {from} goes back.");
        Ok(Next::Prompt)
    }
}
