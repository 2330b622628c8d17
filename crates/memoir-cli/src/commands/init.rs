//! `/init`: writes a first AGENTS.md.

use memoir_runtime::{Failure, operations::instructions, printable};

use super::{Next, RunCommand};
use crate::{app::App, question};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let runtime = &app.session.runtime;
        let draft = instructions::draft(runtime.project())?;
        say!("{}", printable(&draft.text));
        let path = draft.path.display().to_string();
        if !question::confirm(
            &format!(
                "Write this to {}, and follow the instructions of this project from now on?",
                printable(&path)
            ),
            false,
        )
        .await?
        {
            return Ok(Next::Prompt);
        }
        instructions::write(&draft)?;
        let follows = runtime.trust_own_instructions().await?;
        app.session.state.follows_project |= follows;
        match app.session.state.follows_project {
            true => say!("Written. Edit it; the model gets it with your next prompt."),
            false => say!("Written. Run `memoir trust`, so that the model gets it."),
        }
        Ok(Next::Prompt)
    }
}
