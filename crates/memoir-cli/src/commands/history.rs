//! `/history`: shows the latest exchanges of this conversation.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{
    app::App,
    pager,
    screen::{render_markdown, wrap_text},
};

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
        let mut text = String::new();
        for exchange in exchanges {
            let started = exchange.started.format_minute(app.session.runtime.zone());
            let prompt =
                wrap_text(&format!("[{}] {started}\n> {}", exchange.id, exchange.user_message.trim_end()));
            let answer = render_markdown(exchange.assistant_message.trim_end());
            text.push_str(&format!("{prompt}\n{answer}\n"));
        }
        pager::show(text.trim_end(), pager::Position::End)?;
        Ok(Next::Prompt)
    }
}
