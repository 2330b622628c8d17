//! What `memoir` does besides talking: one file per subcommand.

mod cost;
pub(crate) mod daemon;
mod docs;
mod eval;
mod import;
mod memory;
mod models;
mod search;
mod worker;
mod write;

use std::sync::Arc;

use memoir_core::{ConversationId, TimeZone};
use memoir_store::Store;

use crate::{
    args::{Command, MemoryCommand, WorkerCommand},
    failure::Failure,
    home::Home,
    models::Models,
    recall, scheduling,
    tasks::TaskEngine,
};

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
}

/// Runs a subcommand.
pub(crate) async fn run(
    command: Command,
    models: &Arc<Models>,
    store: Arc<dyn Store>,
    zone: &TimeZone,
    home: &Home,
) -> Result<(), Failure> {
    match command {
        Command::Search { query, since, scope, limit, json } => {
            let format = if json { Format::Json } else { Format::Text };
            let here = std::env::current_dir().ok();
            let recall = recall::recall(store, models, zone, here.as_deref()).await?;
            let search = search::Search { query, since, scope, limit: limit.into(), format };
            search::run(search, recall).await
        }
        Command::Worker(WorkerCommand::Run { .. }) => worker::run(models, store, zone).await,
        Command::Memory(MemoryCommand::Forget(wanted)) => {
            let recall = recall::recall(store, models, zone, None).await?;
            memory::forget(wanted, &recall, &home.posts()).await
        }
        Command::Docs(command) => docs::run(command, models, store, zone, home).await,
        Command::Write(wanted) => write::run(wanted, models, store, zone, home).await,
        Command::Schedule(command) => {
            let directory = std::env::current_dir()?;
            scheduling::run(command, &engine(models, store, zone, home), &directory).await
        }
        Command::Daemon { print_unit: true } => daemon::print_unit(),
        Command::Daemon { print_unit: false } => daemon::run(engine(models, store, zone, home)).await,
        Command::Import(command) => import::run(command, store.as_ref(), zone).await,
        Command::Eval(command) => eval::run(command).await,
        Command::Models(command) => models::run(command, models, store.as_ref()).await,
        Command::Cost { conversation, json } => {
            let format = if json { Format::Json } else { Format::Text };
            cost::run(conversation.map(ConversationId::new), format, store.as_ref(), zone).await
        }
    }
}

fn engine(models: &Arc<Models>, store: Arc<dyn Store>, zone: &TimeZone, home: &Home) -> Arc<TaskEngine> {
    TaskEngine::new(Arc::clone(models), store, home.clone(), zone.clone())
}
