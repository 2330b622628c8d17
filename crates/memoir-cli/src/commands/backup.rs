//! `/backup`: a copy of the whole memory.

use std::path::PathBuf;

use super::{Next, RunCommand};
use memoir_runtime::{Failure, Persistence};

use crate::{app::App, backup, completion_source::ValueSource};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Directory to create; named after the moment if left out
    #[arg(value_name = "FOLDER", add = ValueSource::Files)]
    folder: Option<PathBuf>,
}

impl RunCommand for Arguments {
    const NEEDS_MEMORY: bool = true;

    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        if app.session.runtime.persistence() == Persistence::Demo {
            return Err(Failure::usage("the memory of the demo is thrown away")
                .hint("/export writes down what was said."));
        }
        backup::back_up(
            self.folder.as_deref(),
            app.session.store(),
            app.session.runtime.home(),
            app.session.runtime.zone(),
        )
        .await?;
        Ok(Next::Prompt)
    }
}
