//! `/resume`: resumes an earlier conversation.

use memoir_runtime::{Failure, Session, printable};

use super::{Next, RunCommand};
use crate::{
    app::App,
    completion_source::ValueSource,
    conversation_picker::{find_conversation, pick_conversation},
    render,
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Conversation to resume, by its ID or words of its title; without it, choose from a list
    #[arg(value_name = "CONVERSATION", add = ValueSource::CONVERSATIONS)]
    conversation: Vec<String>,
}

impl RunCommand for Arguments {
    async fn run(self, App { session, .. }: &mut App) -> Result<Next, Failure> {
        let (store, zone) = (session.store(), session.runtime.zone());
        let id = match self.conversation.join(" ") {
            wanted if wanted.is_empty() => pick_conversation(store, zone).await?,
            wanted => find_conversation(&wanted, true, store, zone).await?,
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
