//! `/tools`: what the model may do.

use anstream::println;
use async_trait::async_trait;

use super::{Command, Next};
use crate::{app::App, failure::Failure};

/// So much of what a tool does is shown, in characters.
const SHOWN: usize = 70;

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
        for spec in app.state.tools.specs() {
            let first = spec.description.split(['.', '\n']).next().unwrap_or_default();
            let shown: String = first.chars().take(SHOWN).collect();
            println!("{:<28} {shown}", spec.name);
        }
        println!("\ndocs/tools.md tells all of each; /approval says who may do what.");
        Ok(Next::Prompt)
    }
}
