//! The program `memoir`: arguments, the REPL, output.
//!
//! This is the edge. It alone reads the environment, writes to the terminal and decides exit codes; what
//! happens in a turn is the agent's business.

mod answer_view;
mod app;
mod args;
mod background_printer;
mod backup;
mod commands;
mod completion_source;
mod conversation_picker;
mod documents;
mod headless;
mod interrupts;
mod output;
mod paths;
mod posts;
mod process;
mod progress;
mod prompt_source;
mod question;
mod render;
mod repl;
mod schedule;
mod screen;
mod startup;
mod subcommands;
mod text_editor;
mod trace;

use std::process::ExitCode;

use clap::Parser as _;
use memoir_runtime::{Failure, FailureKind};

pub use args::{command_line, man_page};
pub use commands::all as slash_commands;

/// Runs the program.
pub fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == memoir_tools::CONFINED) {
        // Before there is any thread: this process is to become a command.
        return report(&Failure::from(memoir_tools::become_confined(words)));
    }
    let args = args::Args::parse();
    // Keys are in our environment: other programs of the user, commands that a model runs among them, must not read it there.
    // A kernel that does not know this leaves it as it is.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(&Failure::from(error)),
    };
    let outcome = runtime.block_on(startup::run(args));
    memoir_tools::end_children();
    // A blocking read of the terminal may still be under way; it must not keep the program from ending.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure),
    }
}

/// Tells the user what failed, and returns the exit code that says so.
fn report(failure: &Failure) -> ExitCode {
    if failure.kind != FailureKind::ReaderGone {
        anstream::eprintln!("memoir: {}", failure.sentence());
    }
    ExitCode::from(failure.exit_code())
}
