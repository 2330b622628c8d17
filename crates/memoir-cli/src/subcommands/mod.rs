//! Subcommands of `memoir`, one file each. Some files also implement the slash command of the same name.

pub(crate) mod completions;
pub(crate) mod config;
mod connect;
mod conversations;
mod cost;
mod daemon;
mod docs;
pub(crate) mod doctor;
mod eval;
pub(crate) mod export;
pub(crate) mod hook;
pub(crate) mod import;
mod mcp;
pub(crate) mod memory;
mod models;
pub(crate) mod search;
mod serve;
mod why;
mod worker;
mod write;

use memoir_core::{ConversationId, TimeZone};
use memoir_recall::Recall;
use memoir_runtime::{
    Failure, Runtime, RuntimeOptions,
    hub::HubAddress,
    operations::{
        config::ConfigSources,
        systemd::{self, Service},
    },
    printable,
    scope::find_project,
};
use memoir_serve::mcp::serve_hub;

use self::memory::MemoryContext;
use crate::{
    args::{
        Args, Command, ConfigCommand, ImportCommand, McpCommand, MemoryCommand, ServedScope, WorkerCommand,
    },
    backup, hub,
    render::{print, print_raw},
    schedule,
};

/// Returns recall for this project, and prints notices about its setup to stderr.
async fn recall(runtime: &Runtime) -> Result<Recall, Failure> {
    let mut notices = Vec::new();
    let recall = runtime.recall(&mut notices).await?;
    print_notices(&notices);
    Ok(recall)
}

pub(crate) fn print_notices(notices: &[String]) {
    notices.iter().for_each(|notice| note!("{}", printable(notice)));
}

/// Runs a subcommand that needs no memory or must not open it. Returns `args` unchanged for any other subcommand.
pub(crate) async fn run_without_memory(
    args: Args,
    options: &RuntimeOptions,
) -> Result<Option<Args>, Failure> {
    let RuntimeOptions { home, environment, .. } = options;
    let project = find_project(&options.directory, environment.user_home());
    if let Some(command) = &args.command {
        hub::refuse_other_memory(command, environment)?;
    }
    match &args.command {
        Some(Command::Completions { script, directory }) => completions::run(*script, directory.as_deref())?,
        Some(Command::Daemon { print_unit: true }) => {
            print_raw(&systemd::unit(&Service::Daemon, environment)?)?;
        }
        Some(Command::Serve { options, command: None }) if options.print_unit => {
            print_raw(&systemd::unit(&Service::Server(serve::unit_arguments(options)?), environment)?)?;
        }
        Some(Command::Restore(arguments)) => backup::restore(arguments, home, &TimeZone::system()).await?,
        // Users need the path to fix an invalid config file, which opening memory would reject.
        Some(Command::Config { command: Some(ConfigCommand::Path { json }) }) => {
            config::print_paths(
                *json,
                &ConfigSources { home, project: &project, is_trusted: true, environment },
            )?;
        }
        Some(Command::Connect(arguments)) => {
            connect::run(arguments.clone(), home, &project, environment).await?
        }
        Some(Command::Mcp(McpCommand::Serve { url, scope, project: named, .. }))
            if url.is_some() || environment.hub_url().is_some() =>
        {
            let url = url.as_deref().or(environment.hub_url()).unwrap_or_default();
            let at_hub = match scope {
                ServedScope::All => None,
                ServedScope::Project => Some(named.clone().unwrap_or_else(|| project.display().to_string())),
            };
            let address = HubAddress::with_token_of(environment, url, at_hub)?;
            serve_hub(address, home, tokio::io::stdout()).await?
        }
        Some(Command::Repair { json }) => backup::repair(home, *json).await?,
        Some(Command::Doctor { json }) => doctor::run(home, &project, environment, *json).await?,
        _ => return Ok(Some(args)),
    }
    Ok(None)
}

/// Runs a subcommand that needs memory.
pub(crate) async fn run(command: Command, runtime: &Runtime) -> Result<(), Failure> {
    let (store, zone, home) = (runtime.store().as_ref(), runtime.zone(), runtime.home());
    match command {
        Command::Search(arguments) => search::run(arguments, runtime, &recall(runtime).await?).await,
        Command::Conversations { command } => conversations::run(command.unwrap_or_default(), runtime).await,
        Command::Memory { command } => {
            let command = command.unwrap_or(MemoryCommand::List { json: false });
            let recall = recall(runtime).await?;
            let context =
                MemoryContext { runtime, recall: &recall, conversation: None, command: "memoir memory" };
            memory::run(command, &context).await
        }
        Command::Export(arguments) => export::run(&arguments, runtime).await,
        Command::Backup { directory } => backup::back_up(directory.as_deref(), store, home, zone).await,
        Command::Config { command } => config::run(command, runtime).await,
        Command::Mcp(command) => mcp::run(command, runtime).await,
        Command::Serve { options, command } => serve::run(options, command, runtime).await,
        Command::Open(arguments) => serve::open(&arguments, runtime).await,
        Command::Why { limit, json } => why::run(limit, json, runtime).await,
        Command::Worker(WorkerCommand::Run { .. }) => worker::run(runtime).await,
        Command::Docs(command) => docs::run(command, runtime).await,
        Command::Write(arguments) => write::run(arguments, runtime).await,
        Command::Schedule(command) => {
            schedule::run(command, &runtime.task_engine(), runtime.directory()).await
        }
        Command::Daemon { .. } => daemon::run(runtime).await,
        Command::Import { watch: true, .. } => import::watch(runtime).await,
        Command::Import { command, .. } => {
            let command = command.unwrap_or(ImportCommand::Found);
            import::run(command, &runtime.models().environment, store, zone).await
        }
        Command::Trust { revoke } => {
            runtime.decide_trust(!revoke).await?;
            let verb = if revoke { "no longer uses" } else { "now uses" };
            print(&format!(
                "Memoir {verb} the instructions, skills and config of {}.",
                runtime.project().display()
            ))
        }
        Command::Eval(command) => eval::run(command, runtime).await,
        Command::Models(command) => models::run(command, runtime).await,
        Command::Cost { conversation, json } => {
            cost::run(conversation.map(ConversationId::new), json, runtime).await
        }
        // `hook` runs before anything else, `run_without_memory` runs these, and `chat` and `demo` are conversations.
        Command::Hook(_)
        | Command::Completions { .. }
        | Command::Connect(_)
        | Command::Restore(_)
        | Command::Repair { .. }
        | Command::Doctor { .. }
        | Command::Chat(_)
        | Command::Demo { .. } => Ok(()),
    }
}
