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
    Failure, Runtime, RuntimeOptions,
    config::IN_PROJECT,
    operations::{config::ConfigSources, daemon::systemd_unit},
    printable,
    scope::project_of,
};

use self::memory::MemoryContext;
use crate::{
    args::{Args, Command, ConfigCommand, ImportCommand, MemoryCommand, WorkerCommand},
    backup,
    render::print,
    schedule,
};

/// Returns recall for this project. Prints notices about its setup on stderr.
async fn recall(runtime: &Runtime) -> Result<Recall, Failure> {
    let mut notices = Vec::new();
    let recall = runtime.recall(&mut notices).await?;
    print_notices(&notices);
    Ok(recall)
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
        Some(Command::Daemon { print_unit: true }) => print(&systemd_unit(environment)?)?,
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
pub(crate) async fn run(command: Command, runtime: &Runtime) -> Result<(), Failure> {
    let (store, zone, home) = (runtime.store().as_ref(), runtime.zone(), runtime.home());
    match command {
        Command::Search(wanted) => search::run(wanted, &recall(runtime).await?).await,
        Command::Conversations { command } => conversations::run(command.unwrap_or_default(), runtime).await,
        Command::Memory { command } => {
            let command = command.unwrap_or(MemoryCommand::List { json: false });
            let recall = recall(runtime).await?;
            let context =
                MemoryContext { store, recall: &recall, home, conversation: None, command: "memoir memory" };
            memory::run(command, &context).await
        }
        Command::Export(wanted) => export::run(&wanted, store, zone).await,
        Command::Backup { folder } => backup::back_up(folder.as_deref(), store, home, zone).await,
        Command::Config { command } => {
            let command = command.unwrap_or(ConfigCommand::List { json: false });
            let file = runtime.project().join(IN_PROJECT);
            let environment = &runtime.models().environment;
            config::run(command, &ConfigSources { home, project: &file, environment }, store).await
        }
        Command::Worker(WorkerCommand::Run { .. }) => worker::run(runtime).await,
        Command::Docs(command) => docs::run(command, runtime).await,
        Command::Write(wanted) => write::run(wanted, runtime).await,
        Command::Schedule(command) => {
            schedule::run(command, &runtime.task_engine(), runtime.directory()).await
        }
        Command::Daemon { .. } => daemon::run(runtime.task_engine()).await,
        Command::Import { command } => {
            let command = command.unwrap_or(ImportCommand::Found);
            import::run(command, &runtime.models().environment, store, zone).await
        }
        Command::Eval(command) => eval::run(command, runtime).await,
        Command::Models(command) => models::run(command, runtime).await,
        Command::Cost { conversation, json } => {
            cost::run(conversation.map(ConversationId::new), json, runtime).await
        }
        // These are done without opening the memory, or are talk.
        Command::Completions { .. } | Command::Restore(_) | Command::Doctor { .. } | Command::Demo { .. } => {
            Ok(())
        }
    }
}
