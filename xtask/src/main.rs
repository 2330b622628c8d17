//! Chores of the house. `cargo xtask --help` lists them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for people at a terminal")]

mod docs;
mod ladder;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

/// What a chore says when it fails.
type Outcome = Result<String, String>;

#[derive(Parser)]
#[command(about = "Chores of the house")]
enum Chore {
    /// Check that every crate depends only on lower rungs of the ladder in ARCHITECTURE.md
    Ladder,
    #[command(subcommand)]
    /// The reference pages that are made from the program's own lists
    Docs(Docs),
}

#[derive(Subcommand)]
enum Docs {
    /// Write them
    Write,
    /// Fail when they are not what they should be
    Check,
}

fn main() -> ExitCode {
    let outcome = match Chore::parse() {
        Chore::Ladder => ladder::check(&root()),
        Chore::Docs(Docs::Write) => docs::write(&root()),
        Chore::Docs(Docs::Check) => docs::check(&root()),
    };
    match outcome {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(said) => {
            eprintln!("{said}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}
