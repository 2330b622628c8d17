//! `/info`: shows the model, the conversation, and the location and size of the memory.

use super::{Next, RunCommand};
use memoir_runtime::{Failure, Persistence};

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
        }
        // Empty tables are only counted, because listing them would fill the screen.
        let tables = match store.inspect() {
            Some(inspect) => inspect.tables().await?,
            None => Vec::new(),
        };
        for table in tables.iter().filter(|table| table.rows > 0) {
            say!("              {}: {}", table.name, table.rows);
        }
        let empty = tables.iter().filter(|table| table.rows == 0).count() as u64;
        say!("              {}", pluralize(empty, "other table is empty", "other tables are empty"));
        Ok(Next::Prompt)
    }
}
