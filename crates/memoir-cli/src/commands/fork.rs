//! `/fork`: another conversation that begins with this one.

use anstream::println;
use memoir_agent::CurrentConversation;

use super::{Next, RunCommand};
use memoir_runtime::failure::{Failure, FailureKind};

use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let nothing =
            || Failure::new(FailureKind::Usage, "nothing has been said here yet").hint("Just go on.");
        let from = app.session.state.conversation.id().ok_or_else(nothing)?;
        let fork =
            app.session.agent.store.fork(from, app.session.agent.clock.now()).await?.ok_or_else(nothing)?;
        let scope = app.session.state.conversation.scope().to_owned();
        let store = app.session.agent.store.as_ref();
        let conversation = CurrentConversation::resume(store, fork, scope).await?;
        app.session.enter(conversation).await;
        println!("This is conversation {fork} now, which began as {from}. /resume {from} goes back.");
        Ok(Next::Prompt)
    }
}
