//! `/verbosity`: how much is shown of a turn's inside.

use anstream::println;
use async_trait::async_trait;

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
    trace::Verbosity,
};

pub(super) struct SetVerbosity;

#[async_trait]
impl Command for SetVerbosity {
    fn name(&self) -> &'static str {
        "verbosity"
    }

    fn arguments(&self) -> &'static str {
        "[0-4]"
    }

    fn summary(&self) -> &'static str {
        "How much to show: 0 tool names to 4 all that is sent."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        if !arguments.is_empty() {
            let level =
                arguments.parse().ok().filter(|level| *level <= Verbosity::MOST).ok_or_else(|| {
                    Failure::new(Kind::Usage, format!("\"{arguments}\" is no verbosity"))
                        .hint("Use a number from 0 to 4.")
                })?;
            app.verbosity = Verbosity::new(level);
            app.told.set(app.verbosity);
        }
        println!("Verbosity {}.", app.verbosity.level());
        Ok(Next::Prompt)
    }
}
