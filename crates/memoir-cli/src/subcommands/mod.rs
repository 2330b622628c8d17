//! What `memoir` does besides talking: one file per subcommand, or the file that a slash command has in common with it.

mod completions;
mod config;
mod conversations;
mod cost;
mod daemon;
mod docs;
mod doctor;
mod eval;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod memory;
mod models;
mod search;
mod worker;
mod write;

use memoir_core::{ConversationId, TimeZone};
use memoir_recall::Recall;
use memoir_runtime::{
    Runtime, RuntimeOptions, config::IN_PROJECT, failure::Failure, operations::config::ConfigSources,
    printable, scope::project_of,
};
use memoir_store::Store;
use memoir_workers::WorkerContext;

use self::memory::MemoryContext;

use crate::{
    args::{Args, Command, ConfigCommand, ImportCommand, MemoryCommand, WorkerCommand},
    backup, schedule,
};

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
}

impl Format {
    fn new(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// What subcommands work with.
pub(crate) struct CommandContext {
    pub(crate) runtime: Runtime,
}

impl CommandContext {
    /// Memory, to be asked from this project. What does not work as set up is said on stderr.
    async fn recall(&self) -> Result<Recall, Failure> {
        let mut notices = Vec::new();
        let recall = self.runtime.recall(&mut notices).await?;
        print_notices(&notices);
        Ok(recall)
    }

    /// What workers share, with the summarizer that is set.
    async fn worker_context(&self) -> Result<WorkerContext, Failure> {
        let mut notices = Vec::new();
        let context = self.runtime.worker_context(&mut notices).await?;
        print_notices(&notices);
        Ok(context)
    }

    fn store(&self) -> &dyn Store {
        self.runtime.store().as_ref()
    }
}

/// Shows notices on stderr.
pub(crate) fn print_notices(notices: &[String]) {
    notices.iter().for_each(|notice| anstream::eprintln!("{}", printable(notice)));
}

/// Runs what needs no memory, or must not open it. Gives back what is left to do.
pub(crate) async fn run_without_memory(
    args: Args,
    options: &RuntimeOptions,
) -> Result<Option<Args>, Failure> {
    let RuntimeOptions { home, environment, .. } = options;
    let project = project_of(&options.directory);
    match &args.command {
        Some(Command::Completions { script }) => completions::run(*script)?,
        Some(Command::Daemon { print_unit: true }) => daemon::print_unit()?,
        Some(Command::Restore(wanted)) => backup::restore(wanted, home, &TimeZone::system()).await?,
        // A file with a mistake has to be found before it can be mended.
        Some(Command::Config { command: Some(ConfigCommand::Path { json }) }) => {
            let file = project.join(IN_PROJECT);
            config::print_paths(*json, &ConfigSources { home, project: &file, environment })?;
        }
        Some(Command::Doctor { json }) => {
            let file = project.join(IN_PROJECT);
            doctor::run(home, &file, environment, *json).await?;
        }
        _ => return Ok(Some(args)),
    }
    Ok(None)
}

/// Runs a subcommand.
pub(crate) async fn run(command: Command, context: &CommandContext) -> Result<(), Failure> {
    let runtime = &context.runtime;
    let (models, store, zone, home) = (runtime.models(), context.store(), runtime.zone(), runtime.home());
    match command {
        Command::Search(wanted) => search::run(wanted, &context.recall().await?).await,
        Command::Conversations { command } => {
            conversations::run(command.unwrap_or_default(), store, zone).await
        }
        Command::Memory { command } => {
            let command = command.unwrap_or(MemoryCommand::List { json: false });
            let recall = context.recall().await?;
            let context =
                MemoryContext { recall: &recall, home, conversation: None, command: "memoir memory" };
            memory::run(command, &context).await
        }
        Command::Export(wanted) => export::run(&wanted, store, zone).await,
        Command::Backup { folder } => backup::back_up(folder.as_deref(), store, home, zone).await,
        Command::Config { command } => {
            let command = command.unwrap_or(ConfigCommand::List { json: false });
            let file = runtime.project().join(IN_PROJECT);
            let sources = ConfigSources { home, project: &file, environment: &models.environment };
            config::run(command, &sources, store).await
        }
        Command::Worker(WorkerCommand::Run { .. }) => worker::run(context).await,
        Command::Docs(command) => docs::run(command, context).await,
        Command::Write(wanted) => write::run(wanted, context).await,
        Command::Schedule(command) => {
            schedule::run(command, &runtime.task_engine(), runtime.directory()).await
        }
        Command::Daemon { .. } => daemon::run(runtime.task_engine()).await,
        Command::Import { command } => {
            import::run(command.unwrap_or(ImportCommand::Found), &models.environment, store, zone).await
        }
        Command::Eval(command) => eval::run(command, context).await,
        Command::Models(command) => models::run(command, models, store).await,
        Command::Cost { conversation, json } => {
            cost::run(conversation.map(ConversationId::new), Format::new(json), store, zone).await
        }
        // These are done without opening the memory, or are talk.
        Command::Completions { .. } | Command::Restore(_) | Command::Doctor { .. } | Command::Demo { .. } => {
            Ok(())
        }
    }
}
