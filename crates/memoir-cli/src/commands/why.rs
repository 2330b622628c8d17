//! `/why`: shows what recall added to the last prompt, and why.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{app::App, render};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let recalled = &app.session.last_recalled;
        if recalled.is_empty() {
            say!("Recall added nothing to the last prompt, or it has been deleted since.");
        } else {
            let text = render::search::recollection(recalled, app.session.runtime.zone());
            say!("{}", text.trim_end());
        }
        Ok(Next::Prompt)
    }
}
