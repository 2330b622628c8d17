//! `/resume`: resumes an earlier conversation.

use memoir_core::ConversationId;
use memoir_runtime::{Failure, printable};

use super::{Next, RunCommand};
use crate::{app::App, completion_source::ValueSource, conversation_picker::pick_conversation};

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
        }
        Ok(Next::Prompt)
    }
}
