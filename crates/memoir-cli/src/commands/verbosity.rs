//! `/verbosity`: how much is shown of a turn's inside.

use anstream::println;

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::{app::App, trace::Verbosity};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// How much to show
    #[arg(value_name = "0-4", value_parser = clap::value_parser!(u8).range(0..=i64::from(Verbosity::MOST)))]
    level: Option<u8>,
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        if let Some(level) = self.level {
            app.verbosity = Verbosity::new(level);
            app.printer.set_verbosity(app.verbosity);
        }
        println!("Verbosity {}.", app.verbosity.level());
        Ok(Next::Prompt)
    }
}
