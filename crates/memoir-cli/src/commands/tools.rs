//! `/tools`: lists the tools that the model may use.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::app::App;

/// Maximum length of a description, in characters.
const MAX_LENGTH: usize = 70;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        for spec in app.session.state.tools.specs() {
            let sentence = spec.description.split(['.', '\n']).next().unwrap_or_default();
            let summary: String = sentence.chars().take(MAX_LENGTH).collect();
            say!("{:<28} {summary}", spec.name);
        }
        say!("\nFor full descriptions, see docs/tools.md. For permissions, type `/approval`.");
        Ok(Next::Prompt)
    }
}
