//! `/migrate-exchanges`: messages whose exchange is missing get it back.

use anstream::println;
use async_trait::async_trait;

use super::{Command, Next};
use crate::{app::App, failure::Failure};

pub(super) struct MigrateExchanges;

#[async_trait]
impl Command for MigrateExchanges {
    fn name(&self) -> &'static str {
        "migrate-exchanges"
    }

    fn summary(&self) -> &'static str {
        "Group messages that have no exchange; safe to repeat."
    }

    async fn run(&self, _arguments: &str, app: &mut App) -> Result<Next, Failure> {
        match app.agent.store.group_messages().await? {
            0 => println!("Every message belongs to an exchange."),
            1 => println!("1 exchange was made of messages that had none."),
            many => println!("{many} exchanges were made of messages that had none."),
        }
        Ok(Next::Prompt)
    }
}
