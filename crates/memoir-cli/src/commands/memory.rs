//! `/memory`: shows, searches, edits, pins and deletes memories.

use memoir_core::RecalledPassages;

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{
    app::App,
    args::MemoryCommand,
    subcommands::memory::{self, MemoryContext},
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    #[command(flatten)]
    Shared(MemoryCommand),
    /// Stop sending an instruction kept from earlier in this conversation
    Release {
        /// Number of the instruction, as `/memory show` lists it
        #[arg(value_name = "N")]
        instruction: usize,
    },
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let command = match self.action {
            None => MemoryCommand::List { json: false },
            Some(Action::Shared(command)) => command,
            Some(Action::Release { instruction }) => {
                memory::release(instruction, &context(app)).await?;
                return Ok(Next::Prompt);
            }
        };
        let is_deletion = matches!(command, MemoryCommand::Forget(_));
        memory::run(command, &context(app)).await?;
        if is_deletion {
            // It may quote deleted text.
            app.session.last_recalled = RecalledPassages::default();
        }
        if app.session.leave_if_deleted().await? {
            say!("This conversation was deleted, so a new one starts.");
        }
        Ok(Next::Prompt)
    }
}

fn context(app: &App) -> MemoryContext<'_> {
    MemoryContext {
        runtime: &app.session.runtime,
        recall: app.session.recall(),
        conversation: app.session.conversation(),
        command: "/memory",
    }
}
