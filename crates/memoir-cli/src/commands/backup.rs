//! `/backup`: backs up the whole memory.

use std::path::PathBuf;

use super::{Next, RunCommand};
use memoir_runtime::{Failure, Persistence};

use crate::{app::App, backup, completion_source::ValueSource};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Directory to create; defaults to a name with the current time
    #[arg(value_name = "DIRECTORY", add = ValueSource::Files)]
    directory: Option<PathBuf>,
}

impl RunCommand for Arguments {
    const NEEDS_MEMORY: bool = true;

    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        if app.session.runtime.persistence() == Persistence::Demo {
            return Err(Failure::usage("the demo memory is temporary and cannot be backed up")
                .hint("Save this conversation with `/export FILE`."));
        }
        backup::back_up(
            self.directory.as_deref(),
            app.session.store(),
            app.session.runtime.home(),
            app.session.runtime.zone(),
        )
        .await?;
        Ok(Next::Prompt)
    }
}
