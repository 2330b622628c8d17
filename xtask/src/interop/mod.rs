//! Runs the program against software that other people wrote: model servers, MCP servers and clients,
//! agents, a browser, and an embedding model; and the files that install it as a server. They are
//! installed from the package registries, each at a fixed version.

mod agents;
mod browser;
mod embedding_models;
mod http_clients;
mod install;
mod mcp_servers;
mod model_servers;
mod packaging;
mod proxied_programs;
mod service;

use std::{
    path::{Path, PathBuf},
    process::Output,
};

use memoir_testkit::{ProgramRun, TestHome};
use serde_json::Value;

use self::install::Installer;
use crate::{ChoreError, ChoreResult};

/// Which parts to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Those that install in seconds.
    Light,
    All,
}

/// One line of the table.
struct Trial {
    part: &'static str,
    version: &'static str,
    what: String,
    /// What went wrong, if anything.
    result: Result<(), String>,
}

/// What the trials need.
struct Bench {
    binary: PathBuf,
    installer: Installer,
    trials: Vec<Trial>,
}

impl Bench {
    fn home(&self) -> TestHome {
        TestHome::new(&self.binary)
    }

    /// Records a trial, and prints it at once.
    fn record(
        &mut self,
        part: (&'static str, &'static str),
        what: impl Into<String>,
        result: Result<(), String>,
    ) {
        let trial = Trial { part: part.0, version: part.1, what: what.into(), result };
        println!("{}", line(&trial));
        self.trials.push(trial);
    }
}

/// Tries every part, and prints one table.
pub(crate) fn run(binary: &Path, cache: PathBuf, extent: Extent) -> ChoreResult {
    if !binary.is_file() {
        let missing = format!("{} does not exist. Build the program first.", binary.display());
        return Err(ChoreError::Failed(missing));
    }
    let mut bench = Bench { binary: binary.to_owned(), installer: Installer { cache }, trials: Vec::new() };
    println!("| part | version | tried | result |\n| --- | --- | --- | --- |");
    model_servers::try_all(&mut bench, extent);
    mcp_servers::try_all(&mut bench, extent);
    http_clients::try_all(&mut bench);
    browser::try_all(&mut bench);
    proxied_programs::try_all(&mut bench, extent);
    packaging::try_all(&mut bench);
    agents::try_all(&mut bench, extent);
    if extent == Extent::All {
        embedding_models::try_all(&mut bench);
    }
    let failures = bench.trials.iter().filter(|trial| trial.result.is_err()).count();
    match failures {
        0 => Ok(format!("All {} trials succeeded.", bench.trials.len())),
        _ => Err(ChoreError::Failed(format!("{failures} of {} trials failed.", bench.trials.len()))),
    }
}

fn line(trial: &Trial) -> String {
    let result = match &trial.result {
        Ok(()) => "ok".to_owned(),
        Err(reason) => format!("FAILED: {}", reason.split_whitespace().collect::<Vec<_>>().join(" ")),
    };
    format!("| {} | {} | {} | {result} |", trial.part, trial.version, trial.what)
}

/// Runs the program with the PATH of this process, because servers need their interpreters.
fn with_path(run: ProgramRun) -> ProgramRun {
    run.env("PATH", std::env::var_os("PATH").unwrap_or_default())
}

/// Returns the JSON that a run printed.
fn json_of(run: ProgramRun) -> Result<Value, String> {
    let output = with_path(run).output();
    let stdout = succeeded(&output)?;
    serde_json::from_str(&stdout).map_err(|error| format!("{error} in {stdout}"))
}

/// Returns what a run printed, or why it failed.
fn succeeded(output: &Output) -> Result<String, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    }
}

/// Fails with the value unless the condition holds.
fn ensure(is_true: bool, value: &Value) -> Result<(), String> {
    if is_true { Ok(()) } else { Err(value.to_string()) }
}
