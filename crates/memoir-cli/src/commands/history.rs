//! `/history`: shows the latest exchanges of this conversation.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{app::App, screen::render_markdown};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Maximum number of exchanges
    #[arg(value_name = "N", default_value_t = 10)]
    count: u32,
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let exchanges = match app.session.conversation() {
            Some(id) => app.session.store().exchanges(id, self.count).await?,
            None => Vec::new(),
        };
        if exchanges.is_empty() {
            say!("This conversation has no messages yet.");
        }
        for exchange in exchanges {
            say!("[{}] {}", exchange.id, exchange.started.format_minute(app.session.runtime.zone()));
            say!("> {}", exchange.user_message.trim_end());
            anstream::println!("{}", render_markdown(exchange.assistant_message.trim_end()));
        }
        Ok(Next::Prompt)
    }
}
