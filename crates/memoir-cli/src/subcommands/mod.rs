//! What `memoir` does besides talking: one file per subcommand.

mod cost;
mod eval;
mod models;
mod search;

use std::sync::Arc;

use memoir_core::{ConversationId, TimeZone};
use memoir_store::Store;

use crate::{args::Command, failure::Failure, models::Models};

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
}

/// Runs a subcommand.
pub(crate) async fn run(
    command: Command,
    models: &Models,
    store: Arc<dyn Store>,
    zone: &TimeZone,
) -> Result<(), Failure> {
    match command {
        Command::Search { query, limit, json } => {
            let format = if json { Format::Json } else { Format::Text };
            search::run(&query, format, limit, store, zone).await
        }
        Command::Eval(command) => eval::run(command).await,
        Command::Models(command) => models::run(command, models, store.as_ref()).await,
        Command::Cost { conversation, json } => {
            let format = if json { Format::Json } else { Format::Text };
            cost::run(conversation.map(ConversationId::new), format, store.as_ref(), zone).await
        }
    }
}
