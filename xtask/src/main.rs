//! Development tasks. `cargo xtask --help` lists them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

mod boundaries;
mod docs;
mod files;
mod interop;
mod ladder;
mod prose;
mod recording;
mod reference;
mod source;
mod torture;
mod unsafe_blocks;

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

/// The message that a successful chore prints, or why it failed.
type ChoreResult = Result<String, ChoreError>;

/// Why a chore failed.
#[derive(Debug, thiserror::Error)]
enum ChoreError {
    /// A file cannot be read or written.
    #[error("{}: {source}", .path.display())]
    File { path: PathBuf, source: io::Error },
    /// A check failed, or another program did.
    #[error("{0}")]
    Failed(String),
}

impl ChoreError {
    fn file(path: &Path, source: io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }
}

#[derive(Parser)]
#[command(about = "Development tasks")]
enum Chore {
    /// Check that every crate depends only on lower rungs of the ladder in ARCHITECTURE.md, that libraries do not
    /// print, exit or read the environment, and that recall needs no HTTP client
    Ladder,
    #[command(subcommand)]
    /// Write or check the documentation
    Docs(DocsChore),
    /// Check documentation, comments and string literals for calques
    Prose,
    /// Compute the embeddings of the demo's sample project, so that the demo starts instantly
    Demo,
    /// Try to break the program: kills, failing providers, full disks, many processes
    Torture {
        /// Minimum running time in minutes; at least ten rounds always run, and 30 minutes or more add a session of
        /// 10,000 turns that is checked for memory growth
        #[arg(long, default_value_t = 10)]
        minutes: u64,
        /// Seed of the random choices; a failure prints its own
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Path of the program
        #[arg(default_value = "target/release/memoir")]
        binary: PathBuf,
    },
    /// Use one memory from twenty MCP servers, hooks and a watcher at once, kill some of them, and print latencies
    Soak {
        /// Seed of the random choices
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Path of the program
        #[arg(default_value = "target/release/memoir")]
        binary: PathBuf,
    },
    /// Run the program against model servers and MCP servers that other people wrote, installed from the registries
    Interop {
        /// Try only the parts that install in seconds
        #[arg(long)]
        light: bool,
        /// Directory for what is installed
        #[arg(long, default_value = "target/interop")]
        cache: PathBuf,
        /// Path of the program
        #[arg(default_value = "target/release/memoir")]
        binary: PathBuf,
    },
    /// Record the sessions that the documentation shows
    Recording {
        /// Directory for the pictures
        #[arg(long, default_value = "docs/recordings")]
        directory: PathBuf,
        /// Path of the program
        #[arg(default_value = "target/release/memoir")]
        binary: PathBuf,
    },
}

#[derive(Subcommand)]
enum DocsChore {
    /// Write the generated reference pages
    Write,
    /// Fail if a reference page is out of date, a link is broken, or a page or line is too long
    Check,
}

fn main() -> ExitCode {
    let outcome = match Chore::parse() {
        Chore::Ladder => ladder::check(&root()),
        Chore::Docs(DocsChore::Write) => docs::write(&root()),
        Chore::Docs(DocsChore::Check) => docs::check(&root()),
        Chore::Prose => prose::check(&root()),
        Chore::Demo => write_demo(&root()),
        Chore::Torture { minutes, seed, binary } => torture::torture(&root().join(binary), minutes, seed),
        Chore::Soak { seed, binary } => torture::soak(&root().join(binary), seed),
        Chore::Interop { light, cache, binary } => {
            let extent = if light { interop::Extent::Light } else { interop::Extent::All };
            interop::run(&root().join(binary), root().join(cache), extent)
        }
        Chore::Recording { directory, binary } => {
            recording::record(&root().join(binary), &root().join(directory))
        }
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

/// Writes the embeddings of the demo's sample project.
fn write_demo(root: &Path) -> ChoreResult {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| ChoreError::Failed(error.to_string()))?;
    let vectors = runtime.block_on(memoir_runtime::demo::compute_embeddings());
    let vectors = vectors.map_err(|error| ChoreError::Failed(error.sentence()))?;
    let path = root.join("crates/memoir-runtime/demo/vectors.bin");
    std::fs::write(&path, &vectors).map_err(|error| ChoreError::file(&path, error))?;
    Ok(format!("Wrote {} kB of embeddings.", vectors.len() / 1024))
}

/// Returns the root directory of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}
