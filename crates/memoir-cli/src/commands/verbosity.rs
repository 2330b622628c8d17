//! `/verbosity`: sets how much of a turn is shown.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{app::App, trace::Verbosity};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Level: 0 tool names, 1 short arguments, 2 full arguments, 3 requests, 4 tool schemas
    #[arg(value_name = "0-4", value_parser = clap::value_parser!(u8).range(0..=i64::from(Verbosity::MAX_LEVEL)))]
    level: Option<u8>,
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        if let Some(level) = self.level {
            app.verbosity = Verbosity::new(level);
            app.printer.set_verbosity(app.verbosity);
        }
        say!("Verbosity: {}.", app.verbosity.level());
        Ok(Next::Prompt)
    }
}
