//! `/info`: which model, which conversation, where memory is and how large.

use anstream::println;
use async_trait::async_trait;

use super::{Command, Next};
use crate::{
    app::{App, Kept},
    cost_view::amount,
    failure::Failure,
};

pub(super) struct Info;

#[async_trait]
impl Command for Info {
    fn name(&self) -> &'static str {
        "info"
    }

    fn summary(&self) -> &'static str {
        "Show the model, the conversation and the memory."
    }

    async fn run(&self, _arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let store = &app.agent.store;
        println!("model         {} ({})", app.choice.name, app.choice.reason);
        match app.conversation.id() {
            Some(id) => println!("conversation  {id}, {}", amount(&store.conversation_cost(id).await?)),
            None => println!("conversation  new"),
        }
        println!("scope         {}", app.conversation.scope());
        match app.kept {
            Kept::Always => println!("memory        {}", app.home.database().display()),
            Kept::Never => println!("memory        none (incognito)"),
            Kept::Demo => println!("memory        thrown away when you leave (demo)"),
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
