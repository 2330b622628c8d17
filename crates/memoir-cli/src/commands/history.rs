//! `/history`: what was said in this conversation.

use anstream::{print, println};
use async_trait::async_trait;

use super::{Command, Next};
use crate::{
    answer_view::{folded, rendered},
    app::App,
    failure::{Failure, Kind},
};

/// How many exchanges are shown unless asked otherwise.
const DEFAULT: u32 = 10;

pub(super) struct History;

#[async_trait]
impl Command for History {
    fn name(&self) -> &'static str {
        "history"
    }

    fn arguments(&self) -> &'static str {
        "[N]"
    }

    fn summary(&self) -> &'static str {
        "Show the last N exchanges of this conversation (10)."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let count = match arguments {
            "" => DEFAULT,
            number => number.parse().map_err(|_| {
                Failure::new(Kind::Usage, format!("\"{number}\" is not a number"))
                    .hint("Use /history or /history 20.")
            })?,
        };
        let exchanges = match app.state.conversation.id() {
            Some(id) => app.agent.store.exchanges(id, count).await?,
            None => Vec::new(),
        };
        if exchanges.is_empty() {
            println!("Nothing has been said in this conversation yet.");
        }
        for exchange in exchanges {
            println!("[{}] {}", exchange.id, exchange.started.minute_in(&app.zone));
            print!("{}", folded(&format!("> {}", exchange.user_message.trim_end())));
            println!("{}", rendered(exchange.assistant_message.trim_end()));
        }
        Ok(Next::Prompt)
    }
}
