//! `/cost`: what was spent.

use anstream::println;
use async_trait::async_trait;

use super::{Command, Next};
use crate::{app::App, cost_view, failure::Failure};

pub(super) struct Cost;

#[async_trait]
impl Command for Cost {
    fn name(&self) -> &'static str {
        "cost"
    }

    fn summary(&self) -> &'static str {
        "Show what was spent: here, today, by purpose and model."
    }

    async fn run(&self, _arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let (store, now) = (app.agent.store.as_ref(), app.agent.clock.now());
        let report = cost_view::gather(store, app.state.conversation.id(), now, &app.zone).await?;
        println!("{}", report.to_text().trim_end());
        Ok(Next::Prompt)
    }
}
