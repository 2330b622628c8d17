//! `memoir hook`: answers an event of another program.
//!
//! A hook must neither fail nor delay the program that runs it. Whatever goes wrong ends in exit code 0, with nothing on
//! stdout and a line in the log, and a hook that takes too long is stopped.

use std::{
    convert::Infallible,
    io::{IsTerminal as _, Read as _, Write as _, stdin, stdout},
    path::PathBuf,
    process::ExitCode,
    thread,
};

use clap::{Parser as _, error::ErrorKind};
use memoir_runtime::{Failure, Persistence, Runtime, RuntimeOptions, logging, view::MemoryView};
use memoir_serve::hook::{HookEvent, answer};

use super::mcp::reach;
use crate::{
    args::{Args, Command, HookArgs},
    process,
};

/// Maximum size of the description of an event. Descriptions contain the prompt and the last answer.
const MAX_INPUT_BYTES: u64 = 8 * 1024 * 1024;

/// The option of a process that nobody waits for.
const UNHURRIED: &str = "--unhurried";

/// Name of the subcommand.
pub(crate) const NAME: &str = "hook";

/// Runs `memoir hook` from the words of the command line to the exit code.
pub(crate) fn main() -> ExitCode {
    // The panic itself is logged.
    std::panic::catch_unwind(answer_event).unwrap_or(ExitCode::SUCCESS)
}

fn answer_event() -> ExitCode {
    let environment = process::environment();
    let limit = environment.hook_limit();
    // Nothing may block this thread: neither reading stdin nor opening the memory.
    if !std::env::args_os().any(|argument| argument == *UNHURRIED) {
        thread::spawn(move || {
            thread::sleep(limit);
            tracing::warn!(?limit, "a hook took too long and was stopped");
            std::process::exit(0);
        });
    }
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a hook panicked")));
    let home = process::home(&environment);
    let is_logging = home
        .as_ref()
        .is_ok_and(|home| logging::start(home.log_file(), &environment, 0, Persistence::Permanent).is_ok());
    let arguments = match Args::try_parse() {
        Ok(Args { command: Some(Command::Hook(arguments)), .. }) => arguments,
        // A person reads the help, and errors of their own.
        Err(error) if is_logging && !is_for_person(&error) => {
            tracing::warn!(%error, "a hook has invalid arguments");
            return ExitCode::SUCCESS;
        }
        Err(error) if is_for_person(&error) => error.exit(),
        _ => return ExitCode::SUCCESS,
    };
    let Ok(home) = home else { return ExitCode::SUCCESS };
    let options = |directory| RuntimeOptions {
        needs_config: false,
        ..RuntimeOptions::new(home, environment, directory)
    };
    let outcome = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let outcome = outcome.map_err(Failure::from);
    let Err(failure) = outcome.and_then(|runtime| runtime.block_on(run(arguments, options)));
    tracing::warn!(reason = failure.sentence(), "a hook did nothing");
    std::process::exit(0)
}

fn is_for_person(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) || stdin().is_terminal()
}

/// Answers an event and ends the process.
async fn run(
    arguments: HookArgs,
    options: impl FnOnce(PathBuf) -> RuntimeOptions,
) -> Result<Infallible, Failure> {
    let mut input = String::new();
    stdin().lock().take(MAX_INPUT_BYTES).read_to_string(&mut input)?;
    let event = HookEvent::parse(arguments.host, &arguments.event, &input)
        .map_err(|error| Failure::usage(error.to_string()))?;
    if event.is_lengthy() && event.only_stores() && !arguments.unhurried {
        let arguments = std::env::args_os().skip(1).chain([UNHURRIED.into()]);
        process::start_in_background(arguments, &input)?;
        std::process::exit(0);
    }
    let directory = match &event.directory {
        Some(directory) => directory.clone(),
        None => std::env::current_dir()?,
    };
    let runtime = Runtime::open(options(directory)).await?;
    tracing::debug!(event = event.name, "a hook opened the memory");
    let mut notices = Vec::new();
    let view = MemoryView::new(&runtime, reach(arguments.scope), &mut notices).await?;
    notices.iter().for_each(|notice| tracing::info!(notice, "recall is limited"));
    if let Some(reply) = answer(&event, &view).await? {
        // If this fails, the program has closed its end of the pipe, and nobody waits for the reply.
        let _ = writeln!(stdout(), "{reply}");
    }
    // Freeing the index would take time. Closing the memory would wait for background work, which another process can do.
    std::process::exit(0)
}
