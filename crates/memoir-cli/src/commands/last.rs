//! `/last`: shows the whole output of the last tool call.

use memoir_redact::without_secrets;
use memoir_runtime::{Failure, printable};

use super::{Next, RunCommand};
use crate::{
    app::App,
    pager,
    repl::{FinishedCall, color_change},
    screen::wrap_text,
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let Some(FinishedCall { line, result }) = &app.last_call else {
            return Err(
                Failure::usage("no tool was called yet").hint("The model calls tools as it needs them.")
            );
        };
        let change = result.diff.as_deref().map(color_change).unwrap_or_default();
        let output = without_secrets(&result.text);
        let text = format!("{}\n{change}{}", wrap_text(line), printable(&output));
        pager::show(&text, pager::Position::Start)?;
        Ok(Next::Prompt)
    }
}
