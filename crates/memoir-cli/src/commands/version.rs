//! `/version`: which program this is.

use anstream::println;
use async_trait::async_trait;

use super::{Command, Next};
use crate::{app::App, failure::Failure};

pub(super) struct Version;

#[async_trait]
impl Command for Version {
    fn name(&self) -> &'static str {
        "version"
    }

    fn summary(&self) -> &'static str {
        "Show the version of the program and of the memory."
    }

    async fn run(&self, _arguments: &str, app: &mut App) -> Result<Next, Failure> {
        println!("memoir {} (schema {})", env!("CARGO_PKG_VERSION"), app.agent.store.schema_version());
        Ok(Next::Prompt)
    }
}
