//! `/info`: which model, which conversation, where memory is and how large.

use anstream::println;

use super::{Next, RunCommand};
use memoir_runtime::{Failure, Persistence};

use crate::{app::App, render::costs::amount};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let store = app.session.store();
        println!("model         {} ({})", app.session.choice.name, app.session.choice.reason);
        match app.session.conversation() {
            Some(id) => {
                println!("conversation  {id}, {}", amount(&store.conversation_cost(id).await?.into()))
            }
            None => println!("conversation  new"),
        }
        println!("scope         {}", app.session.state.conversation.scope());
        match app.session.runtime.persistence() {
            Persistence::Permanent => {
                println!("memory        {}", app.session.runtime.home().database().display())
            }
            Persistence::Incognito => println!("memory        none (incognito)"),
            Persistence::Demo => println!("memory        thrown away when you leave (demo)"),
        }
        // Most are empty, and many would fill the screen.
        let tables = match store.inspect() {
            Some(inspect) => inspect.tables().await?,
            None => Vec::new(),
        };
        for table in tables.iter().filter(|table| table.rows > 0) {
            println!("              {}: {}", table.name, table.rows);
        }
        println!(
            "              {} other tables are empty",
            tables.iter().filter(|table| table.rows == 0).count()
        );
        Ok(Next::Prompt)
    }
}
