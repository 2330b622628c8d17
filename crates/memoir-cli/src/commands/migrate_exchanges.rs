//! `/migrate-exchanges`: groups messages without an exchange into exchanges.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{app::App, render::pluralize};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        match app.session.store().recreate_missing_exchanges().await? {
            0 => say!("Every message belongs to an exchange."),
            count => {
                say!("Created {} from ungrouped messages.", pluralize(count, "exchange", "exchanges"))
            }
        }
        Ok(Next::Prompt)
    }
}
