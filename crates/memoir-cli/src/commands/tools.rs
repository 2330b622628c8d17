//! `/tools`: what the model may do.

use anstream::println;

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::app::App;

/// So much of what a tool does is shown, in characters.
const SHOWN: usize = 70;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        for spec in app.session.state.tools.specs() {
            let first = spec.description.split(['.', '\n']).next().unwrap_or_default();
            let shown: String = first.chars().take(SHOWN).collect();
            println!("{:<28} {shown}", spec.name);
        }
        println!("\ndocs/tools.md tells all of each; /approval says who may do what.");
        Ok(Next::Prompt)
    }
}
