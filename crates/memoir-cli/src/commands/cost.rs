//! `/cost`: shows the costs of this conversation, of today and of all time.

use super::{Next, RunCommand};
use memoir_runtime::{
    Failure,
    operations::costs::{self, CostRequest},
};

use crate::{app::App, render};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let (store, now) = (app.session.store(), app.session.agent.clock.now());
        let request = CostRequest { conversation: app.session.conversation() };
        let report = costs::add_up(&request, store, now, app.session.runtime.zone()).await?;
        say!("{}", render::costs::report(&report).trim_end());
        Ok(Next::Prompt)
    }
}
