//! `/compact`: replaces all but the last exchange with a summary in later requests.

use memoir_runtime::{CompactReport, Failure};

use super::{Next, RunCommand};
use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        if !app.session.has_chat_model() {
            say!("{} uses no context, so there is nothing to summarize.", app.session.choice.name);
            return Ok(Next::Prompt);
        }
        app.live.show("summarizing");
        let outcome = app.session.compact().await;
        app.live.finish();
        let CompactReport { tokens_before, tokens_after } = outcome?;
        say!(
            "All but the last exchange is summarized: a request has {tokens_after} tokens instead of {tokens_before}. \
             Memory keeps everything."
        );
        Ok(Next::Prompt)
    }
}
