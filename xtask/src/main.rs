//! Chores of the house. `cargo xtask --help` lists them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for people at a terminal")]

mod boundaries;
mod docs;
mod ladder;
mod recording;
mod reference;
mod source;
mod torture;

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

/// What to show the user when a chore has succeeded, or why it failed.
type ChoreResult = Result<String, ChoreError>;

/// Why a chore failed.
#[derive(Debug, thiserror::Error)]
enum ChoreError {
    /// A file cannot be read or written.
    #[error("{}: {source}", .path.display())]
    File { path: PathBuf, source: io::Error },
    /// A check found something, or another program failed.
    #[error("{0}")]
    Failed(String),
}

impl ChoreError {
    fn file(path: &Path, source: io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }
}

#[derive(Parser)]
#[command(about = "Chores of the house")]
enum Chore {
    /// Check that every crate depends only on lower rungs of the ladder in ARCHITECTURE.md, that libraries do not print, exit
    /// or read the environment, and that recall needs no HTTP client
    Ladder,
    #[command(subcommand)]
    /// The reference pages that are made from the program's own lists
    Docs(DocsChore),
    /// Read the sample of the demo, so that the demo opens at once
    Demo,
    /// Try to break it: kills, a provider that fails, a full disk, many at once
    Torture {
        /// For how long at least: ten rounds are done in any case; 30 and more also watch a sitting of 10,000 turns
        #[arg(long, default_value_t = 10)]
        minutes: u64,
        /// What chance begins with; a failure names its own
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The program
        #[arg(default_value = "target/release/memoir")]
        binary: PathBuf,
    },
    /// Record a session with the demo for the README
    Recording {
        /// The program
        #[arg(default_value = "target/release/memoir")]
        binary: PathBuf,
    },
}

#[derive(Subcommand)]
enum DocsChore {
    /// Write them
    Write,
    /// Fail when they are not what they should be
    Check,
}

fn main() -> ExitCode {
    let outcome = match Chore::parse() {
        Chore::Ladder => ladder::check(&root()),
        Chore::Docs(DocsChore::Write) => docs::write(&root()),
        Chore::Docs(DocsChore::Check) => docs::check(&root()),
        Chore::Demo => write_demo(&root()),
        Chore::Torture { minutes, seed, binary } => torture::torture(&root().join(binary), minutes, seed),
        Chore::Recording { binary } => recording::record(&root(), &root().join(binary)),
    };
    match outcome {
        Ok(message) => {
            println!("{message}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the vectors of the sample.
fn write_demo(root: &Path) -> ChoreResult {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| ChoreError::Failed(error.to_string()))?;
    let vectors = runtime.block_on(memoir_runtime::demo::vectors());
    let vectors = vectors.map_err(|error| ChoreError::Failed(error.sentence()))?;
    let path = root.join("crates/memoir-runtime/demo/vectors.bin");
    std::fs::write(&path, &vectors).map_err(|error| ChoreError::file(&path, error))?;
    Ok(format!("{} kB of vectors are written.", vectors.len() / 1024))
}

/// The workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}
