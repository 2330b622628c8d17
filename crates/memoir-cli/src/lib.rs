//! The program `memoir`: arguments, the REPL, output.
//!
//! This is the edge. It alone reads the environment, writes to the terminal and decides exit codes; what
//! happens in a turn is the agent's business.

mod answer_view;
mod app;
mod args;
mod backup;
mod commands;
mod config;
mod config_view;
mod core_memory;
mod cost_view;
mod dates;
mod demo;
mod doctor;
mod documents;
mod embedder;
mod environment;
mod eval;
mod exporting;
mod failure;
mod files;
mod headless;
mod home;
mod importing;
mod interrupts;
mod memory_view;
mod model_view;
mod models;
mod opening;
mod output;
mod paths;
mod permissions;
mod personas;
mod printable;
mod progress;
mod prompt_source;
mod question;
mod recall;
mod reference;
mod repl;
mod scheduling;
mod scope;
mod search_view;
mod servers;
mod settings;
mod stores;
mod subcommands;
mod talks;
mod tasks;
mod tooling;
mod trace;
mod worker_view;
mod writing;

use std::process::ExitCode;

use clap::Parser as _;

pub use demo::vectors as demo_vectors;
pub use reference::{
    commands_reference, environment_reference, man_page, models_reference, settings_reference,
    tools_reference,
};

/// Runs the program.
pub fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == memoir_tools::CONFINED) {
        // Before there is any thread: this process is to become a command.
        return failure::Failure::from(memoir_tools::become_confined(words)).report();
    }
    let args = args::Args::parse();
    // Keys are in our environment: other programs of the user's, commands that a model runs among them, do not read it there.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failure::Failure::from(error).report(),
    };
    let outcome = runtime.block_on(opening::run(args));
    memoir_tools::end_children();
    // A blocking read of the terminal may still be under way; it must not keep the program from ending.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
