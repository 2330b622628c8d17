//! `/info`: shows the model, the conversation, and the location and size of the memory.

use super::{Next, RunCommand};
use memoir_runtime::{Failure, Persistence, hub::HubMemory};

use crate::{
    app::App,
    render::{costs::amount, pluralize},
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let store = app.session.store();
        say!("model         {} ({})", app.session.choice.name, app.session.choice.reason);
        match app.session.conversation() {
            Some(id) => {
                say!("conversation  {id}, {}", amount(&store.conversation_cost(id).await?.into()))
            }
            None => say!("conversation  new"),
        }
        say!("scope         {}", app.session.state.conversation.scope());
        match app.session.runtime.persistence() {
            Persistence::Permanent => {
                say!("memory        {}", app.session.runtime.home().database().display())
            }
            Persistence::Incognito => say!("memory        none (incognito)"),
            Persistence::Demo => say!("memory        temporary (demo)"),
            Persistence::Hub => {
                say!("memory        {}", app.session.runtime.hub().map_or("", HubMemory::url));
                // What follows counts what is on this machine.
                return Ok(Next::Prompt);
            }
        }
        if let Some(inspect) = store.inspect() {
            let tables = inspect.tables().await?;
            let count =
                |name: &str| tables.iter().find(|table| table.name == name).map_or(0, |table| table.rows);
            say!(
                "              {} in {}, {}",
                pluralize(count("messages"), "message", "messages"),
                pluralize(count("conversations"), "conversation", "conversations"),
                pluralize(count("documents"), "document", "documents"),
            );
        }
        Ok(Next::Prompt)
    }
}
