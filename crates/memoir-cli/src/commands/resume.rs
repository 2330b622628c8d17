//! `/resume`: going on with an earlier conversation.

use anstream::println;
use memoir_agent::CurrentConversation;
use memoir_core::ConversationId;

use super::{Next, RunCommand};
use memoir_runtime::{failure::Failure, operations::conversations, printable};

use crate::{app::App, completion_source::ValueSource, conversation_picker::pick_conversation};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Conversation to go on with; without it, choose by title
    #[arg(value_name = "CONVERSATION", add = ValueSource::Conversations)]
    conversation: Option<i64>,
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let (store, zone) = (app.session.agent.store.as_ref(), app.session.runtime.zone());
        let id = match self.conversation {
            None => pick_conversation(store, zone).await?,
            Some(id) => Some(ConversationId::new(id)),
        };
        let Some(id) = id else { return Ok(Next::Prompt) };
        let found = conversations::find(id, store).await?;
        println!("Going on with conversation {id}: {}", printable(&found.title));
        let conversation = CurrentConversation::resume(store, found.id, found.scope).await?;
        app.session.enter(conversation).await;
        Ok(Next::Prompt)
    }
}
