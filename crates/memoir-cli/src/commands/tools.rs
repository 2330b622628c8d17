//! `/tools`: lists the tools that the model may use.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        for spec in app.session.state.tools.specs() {
            let sentence = spec.description.split(". ").next().unwrap_or_default();
            say!("{:<28}  {}", spec.name, sentence.trim_end_matches('.'));
        }
        say!("\nFor full descriptions, see docs/tools.md. For permissions, type `/approval`.");
        Ok(Next::Prompt)
    }
}
