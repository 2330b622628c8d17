//! `/retry`: the last prompt once more.

use async_trait::async_trait;
use memoir_core::{Role, TurnInput};

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
};

pub(super) struct Retry;

#[async_trait]
impl Command for Retry {
    fn name(&self) -> &'static str {
        "retry"
    }

    fn summary(&self) -> &'static str {
        "Ask the last prompt again; the new answer replaces the old."
    }

    async fn run(&self, _arguments: &str, app: &mut App) -> Result<Next, Failure> {
        // What failed or was cancelled was not kept: there is nothing of it to replace.
        if let Some((prompt, replacing)) = app.unanswered.take() {
            app.state.conversation.replace(replacing);
            return Ok(Next::Ask(prompt));
        }
        let nothing =
            || Failure::new(Kind::Usage, "nothing has been asked here yet").hint("Ask something first.");
        let id = app.state.conversation.id().ok_or_else(nothing)?;
        let last = app.agent.store.exchanges(id, 1).await?.pop().ok_or_else(nothing)?;
        if last.conversation_id != id {
            return Err(Failure::new(Kind::Usage, "nothing has been asked in this fork yet")
                .hint("What it began with stays as it is; ask again in your words."));
        }
        if app.agent.store.is_forked_after(id, last.id).await? {
            return Err(Failure::new(Kind::Usage, "another conversation branched off this answer")
                .hint("/fork first, or ask again in your words."));
        }
        app.state.conversation.replace(Some(last.id));
        let messages = app.agent.store.exchange_messages(last.id).await?;
        let by_others = messages.iter().any(|message| message.body.role() == Role::User && message.by_others);
        Ok(Next::Ask(TurnInput::from_stored(last.user_message, by_others)))
    }
}
