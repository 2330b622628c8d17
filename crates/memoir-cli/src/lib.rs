//! The `memoir` command line program: arguments, the REPL and output.
//!
//! Only this crate reads the environment, writes to the terminal and chooses exit codes. `memoir-runtime` runs turns
//! and operations.

#[macro_use]
mod screen;

mod app;
mod args;
mod attaching;
mod background_printer;
mod backup;
mod commands;
mod completion_source;
mod conversation_picker;
mod documents;
mod echo;
mod headless;
mod hub;
mod interrupts;
mod live;
mod man;
mod metrics;
mod pager;
mod paths;
mod posts;
mod process;
mod progress;
mod prompt_source;
mod question;
mod render;
mod repl;
mod schedule;
mod startup;
mod subcommands;
mod text_editor;
mod trace;

use std::process::ExitCode;

use clap::Parser as _;
use memoir_runtime::{Failure, FailureKind};

pub use args::command_line;
pub use commands::all as slash_commands;
pub use man::man_page;

/// Parses the arguments, runs the program and returns its exit code.
pub fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let first = words.next();
    if first.as_ref().is_some_and(|word| word == memoir_tools::CONFINE_ARGUMENT) {
        // This process confines a command, which must happen before any thread starts.
        return memoir_tools::run_confined(words).unwrap_or_else(|error| report(&Failure::from(error)));
    }
    if first.is_some_and(|word| word == subcommands::hook::NAME) {
        return subcommands::hook::main();
    }
    subcommands::completions::answer_shell();
    hide_expected_panics();
    let args = args::Args::parse();
    // The environment contains API keys. Other processes of the user, including commands run by a model, must not
    // be able to read it. The call fails only on kernels that don't support it.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(&Failure::from(error)),
    };
    // These end themselves.
    if !matches!(
        args.command,
        Some(args::Command::Daemon { .. } | args::Command::Serve { .. } | args::Command::Open(_))
    ) {
        runtime.spawn(interrupts::end_servers_with_program());
    }
    let outcome = runtime.block_on(startup::run(args));
    memoir_tools::kill_children();
    // A blocking read from the terminal may still be in progress and must not delay the exit.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure),
    }
}

/// Keeps panics of the PDF reader off the screen. They are reported as damaged files.
fn hide_expected_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| match std::thread::current().name() {
        Some(memoir_docs::PDF_THREAD) => tracing::debug!(%panic, "the PDF reader panicked"),
        _ => default(panic),
    }));
}

/// Prints a failure to stderr and returns its exit code.
fn report(failure: &Failure) -> ExitCode {
    if failure.kind != FailureKind::BrokenPipe {
        note!("memoir: {}", failure.sentence());
    }
    ExitCode::from(failure.exit_code())
}
