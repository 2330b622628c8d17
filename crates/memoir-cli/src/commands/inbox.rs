//! `/inbox`: shows the reports of scheduled tasks.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{app::App, schedule};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Reports to show; defaults to unread ones
    which: Option<ReportSelection>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ReportSelection {
    /// Latest reports, read and unread
    All,
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let all = self.which == Some(ReportSelection::All);
        say!("{}", schedule::inbox(all, app.session.store(), app.session.runtime.zone()).await?);
        Ok(Next::Prompt)
    }
}
