//! `/inbox`: what tasks have reported.

use anstream::println;

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{app::App, schedule};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// ReportSelection reports to show; those you have not seen if left out
    which: Option<ReportSelection>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ReportSelection {
    /// The latest reports, seen or not
    All,
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let all = self.which == Some(ReportSelection::All);
        println!("{}", schedule::inbox(all, app.session.store(), app.session.runtime.zone()).await?);
        Ok(Next::Prompt)
    }
}
