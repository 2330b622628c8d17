//! Reports of operations as text, one file per area. Nothing here prints, except the two functions below.

pub(crate) mod backup;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod eval;
pub(crate) mod posts;
pub(crate) mod tasks;
pub(crate) mod workers;

use std::io::{self, Write as _, stdout};

use memoir_runtime::failure::Failure;
use serde::Serialize;

/// Prints text and a line end.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    Ok(writeln!(stdout(), "{text}")?)
}

/// Prints a report as one line of JSON.
pub(crate) fn print_json(report: &impl Serialize) -> Result<(), Failure> {
    print(&serde_json::to_string(report).map_err(io::Error::from)?)
}
