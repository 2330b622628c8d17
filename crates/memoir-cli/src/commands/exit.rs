//! `/exit`: leave.

use async_trait::async_trait;

use super::{Command, Next};
use crate::{app::App, failure::Failure};

pub(super) struct Exit;

#[async_trait]
impl Command for Exit {
    fn name(&self) -> &'static str {
        "exit"
    }

    fn summary(&self) -> &'static str {
        "Leave; Ctrl-D does the same."
    }

    async fn run(&self, _arguments: &str, _app: &mut App) -> Result<Next, Failure> {
        Ok(Next::Quit)
    }
}
