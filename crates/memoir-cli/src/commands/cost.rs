//! `/cost`: what was spent.

use anstream::println;

use super::{Next, Run};
use memoir_runtime::failure::Failure;

use crate::{app::App, cost_view};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl Run for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let (store, now) = (app.session.agent.store.as_ref(), app.session.agent.clock.now());
        let report =
            cost_view::gather(store, app.session.state.conversation.id(), now, app.session.runtime.zone())
                .await?;
        println!("{}", report.to_text().trim_end());
        Ok(Next::Prompt)
    }
}
