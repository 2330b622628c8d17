//! What `memoir` does besides talking: one file per subcommand, or the file that a slash command has in common with it.

mod completions;
mod cost;
pub(crate) mod daemon;
mod docs;
mod eval;
mod models;
mod search;
mod worker;
mod write;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_core::{ConversationId, TimeZone};
use memoir_recall::Recall;
use memoir_store::Store;

use crate::{
    args::{Args, Command, ConfigCommand, ImportCommand, MemoryCommand, WorkerCommand},
    backup,
    config::IN_PROJECT,
    config_view, doctor,
    environment::Environment,
    exporting,
    failure::{Failure, Kind},
    home::Home,
    importing,
    memory_view::{self, Keeper},
    models::Models,
    recall, scheduling, talks,
    tasks::TaskEngine,
};

pub(crate) use search::run as search;

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
}

impl Format {
    fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// What subcommands work with.
pub(crate) struct Desk {
    pub(crate) models: Arc<Models>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) zone: TimeZone,
    pub(crate) home: Home,
    pub(crate) project: PathBuf,
}

impl Desk {
    async fn recall(&self) -> Result<Recall, Failure> {
        recall::recall(Arc::clone(&self.store), &self.models, &self.zone, Some(&self.project)).await
    }

    fn engine(&self) -> Arc<TaskEngine> {
        TaskEngine::new(
            Arc::clone(&self.models),
            Arc::clone(&self.store),
            self.home.clone(),
            self.zone.clone(),
        )
    }
}

/// Runs what needs no memory, or must not open it. Gives back what is left to do.
pub(crate) async fn without_memory(
    args: Args,
    home: &Home,
    project: &Path,
    environment: &Environment,
) -> Result<Option<Args>, Failure> {
    match &args.command {
        Some(Command::Completions { script }) => completions::run(*script)?,
        Some(Command::Daemon { print_unit: true }) => daemon::print_unit()?,
        Some(Command::Restore(wanted)) => backup::restore(wanted, home, &TimeZone::system()).await?,
        // A file with a mistake has to be found before it can be mended.
        Some(Command::Config { command: Some(ConfigCommand::Path { json }) }) => {
            let file = project.join(IN_PROJECT);
            config_view::path(*json, &config_view::Files { home, project: &file, environment })?;
        }
        Some(Command::Doctor { json }) => {
            let file = project.join(IN_PROJECT);
            if !doctor::run(home, &file, environment.clone(), *json).await? {
                return Err(Failure::new(Kind::Failed, "not everything is as it should be")
                    .hint("What to do stands below each line marked BAD."));
            }
        }
        _ => return Ok(Some(args)),
    }
    Ok(None)
}

/// Runs a subcommand.
pub(crate) async fn run(command: Command, desk: &Desk) -> Result<(), Failure> {
    let Desk { models, store, zone, home, project } = desk;
    match command {
        Command::Search(wanted) => search(wanted, desk.recall().await?).await,
        Command::Conversations { command } => {
            talks::run(command.unwrap_or_default(), store.as_ref(), zone).await
        }
        Command::Memory { command } => {
            let command = command.unwrap_or(MemoryCommand::List { json: false });
            let recall = desk.recall().await?;
            memory_view::run(
                command,
                &Keeper { recall: &recall, home, conversation: None, command: "memoir memory" },
            )
            .await
        }
        Command::Export(wanted) => exporting::run(&wanted, store.as_ref(), zone).await,
        Command::Backup { folder } => backup::back_up(folder.as_deref(), store.as_ref(), home, zone).await,
        Command::Config { command } => {
            let command = command.unwrap_or(ConfigCommand::List { json: false });
            let file = project.join(IN_PROJECT);
            let files = config_view::Files { home, project: &file, environment: &models.environment };
            config_view::run(command, &files, store.as_ref()).await
        }
        Command::Worker(WorkerCommand::Run { .. }) => worker::run(models, Arc::clone(store), zone).await,
        Command::Docs(command) => docs::run(command, models, Arc::clone(store), zone, home).await,
        Command::Write(wanted) => write::run(wanted, models, Arc::clone(store), zone, home).await,
        Command::Schedule(command) => {
            let directory = std::env::current_dir()?;
            scheduling::run(command, &desk.engine(), &directory).await
        }
        Command::Daemon { .. } => daemon::run(desk.engine()).await,
        Command::Import { command } => {
            importing::run(command.unwrap_or(ImportCommand::Found), store.as_ref(), zone).await
        }
        Command::Eval(command) => eval::run(command).await,
        Command::Models(command) => models::run(command, models, store.as_ref()).await,
        Command::Cost { conversation, json } => {
            cost::run(conversation.map(ConversationId::new), Format::of(json), store.as_ref(), zone).await
        }
        // These are done without opening the memory, or are talk.
        Command::Completions { .. } | Command::Restore(_) | Command::Doctor { .. } | Command::Demo { .. } => {
            Ok(())
        }
    }
}
