//! `/retry`: sends the last prompt again.

use memoir_runtime::Failure;

use super::{Next, RunCommand};
use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        Ok(Next::Ask(app.session.retry().await?))
    }
}
