//! `/exit`: leave.

use super::{Next, Run};
use memoir_runtime::failure::Failure;

use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl Run for Arguments {
    async fn run(self, _app: &mut App) -> Result<Next, Failure> {
        Ok(Next::Quit)
    }
}
