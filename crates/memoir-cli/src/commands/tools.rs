//! `/tools`: what the model may do.

use anstream::println;
use async_trait::async_trait;

use super::{Command, Next};
use crate::{app::App, failure::Failure};

pub(super) struct Tools;

#[async_trait]
impl Command for Tools {
    fn name(&self) -> &'static str {
        "tools"
    }

    fn summary(&self) -> &'static str {
        "Show the tools that the model may use."
    }

    async fn run(&self, _arguments: &str, app: &mut App) -> Result<Next, Failure> {
        for spec in app.agent.tools.specs() {
            println!("{}\n    {}", spec.name, spec.description);
        }
        Ok(Next::Prompt)
    }
}
