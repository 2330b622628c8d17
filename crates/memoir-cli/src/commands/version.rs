//! `/version`: shows the version of the program and of the database schema.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        say!("memoir {} (schema {})", env!("CARGO_PKG_VERSION"), app.session.store().schema_version());
        Ok(Next::Prompt)
    }
}
