//! `/resume`: resumes an earlier conversation.

use memoir_core::ConversationId;
use memoir_runtime::{Failure, Session, printable};

use super::{Next, RunCommand};
use crate::{app::App, completion_source::ValueSource, conversation_picker::pick_conversation, render};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Conversation to resume; without it, choose from a list
    #[arg(value_name = "CONVERSATION", add = ValueSource::CONVERSATIONS)]
    conversation: Option<i64>,
}

impl RunCommand for Arguments {
    async fn run(self, App { session, .. }: &mut App) -> Result<Next, Failure> {
        let id = match self.conversation {
            None => pick_conversation(session.store(), session.runtime.zone()).await?,
            Some(id) => Some(ConversationId::new(id)),
        };
        if let Some(id) = id {
            let conversation = session.resume(id).await?;
            say!("Resumed conversation {id}: {}", printable(&conversation.title));
            show_latest(session).await?;
        }
        Ok(Next::Prompt)
    }
}

/// Number of exchanges that remind the user of a conversation.
const LATEST: u32 = 2;

/// Prints the last exchanges of the open conversation.
pub(crate) async fn show_latest(session: &Session) -> Result<(), Failure> {
    if let Some(id) = session.conversation() {
        let exchanges = session.store().exchanges(id, LATEST).await?;
        render::print_raw(render::conversations::latest(&exchanges, session.runtime.zone()).trim_end())?;
    }
    Ok(())
}
