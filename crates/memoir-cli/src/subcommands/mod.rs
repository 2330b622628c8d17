//! What `memoir` does besides talking: one file per subcommand.

mod cost;
mod models;

use std::sync::Arc;

use memoir_core::TimeZone;
use memoir_store::Store;

use crate::{args::Command, failure::Failure, models::Models};

/// Runs a subcommand.
pub(crate) async fn run(
    command: Command,
    models: &Models,
    store: Arc<dyn Store>,
    zone: &TimeZone,
) -> Result<(), Failure> {
    match command {
        Command::Models(command) => models::run(command, models, store.as_ref()).await,
        Command::Cost { json } => cost::run(json, store.as_ref(), zone).await,
    }
}
