//! `/retry`: the last prompt once more.

use memoir_core::{Role, TurnInput};

use super::{Next, RunCommand};
use memoir_runtime::{
    Unanswered,
    failure::{Failure, FailureKind},
};

use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        // What failed or was cancelled was not kept: there is nothing of it to replace.
        if let Some(Unanswered { input, replacing }) = app.session.unanswered.take() {
            app.session.state.conversation.replace(replacing);
            return Ok(Next::Ask(input));
        }
        let nothing = || {
            Failure::new(FailureKind::Usage, "nothing has been asked here yet").hint("Ask something first.")
        };
        let id = app.session.state.conversation.id().ok_or_else(nothing)?;
        let last = app.session.agent.store.exchanges(id, 1).await?.pop().ok_or_else(nothing)?;
        if last.conversation_id != id {
            return Err(Failure::new(FailureKind::Usage, "nothing has been asked in this fork yet")
                .hint("What it began with stays as it is; ask again in your words."));
        }
        if app.session.agent.store.is_forked_after(id, last.id).await? {
            return Err(Failure::new(FailureKind::Usage, "another conversation branched off this answer")
                .hint("/fork first, or ask again in your words."));
        }
        app.session.state.conversation.replace(Some(last.id));
        let messages = app.session.agent.store.exchange_messages(last.id).await?;
        let by_others = messages.iter().any(|message| message.body.role() == Role::User && message.by_others);
        Ok(Next::Ask(TurnInput::from_stored(last.user_message, by_others)))
    }
}
