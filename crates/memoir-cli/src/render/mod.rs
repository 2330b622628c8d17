//! Formats the reports of operations as text, one file per area. Nothing here calls an operation.

pub(crate) mod backup;
pub(crate) mod config;
pub(crate) mod connections;
pub(crate) mod conversations;
pub(crate) mod core_memory;
pub(crate) mod costs;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod eval;
pub(crate) mod forgetting;
pub(crate) mod import;
pub(crate) mod injections;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod posts;
pub(crate) mod search;
pub(crate) mod servers;
pub(crate) mod tasks;
pub(crate) mod tokens;
pub(crate) mod workers;

use std::io::{self, Write as _, stdout};

use memoir_runtime::Failure;
use serde::Serialize;

use crate::screen::wrap_text;

/// Prints text and a newline to stdout. On a terminal, lines are wrapped between words.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    Ok(writeln!(stdout(), "{}", wrap_text(text))?)
}

/// Prints text and a newline to stdout, as it is.
pub(crate) fn print_raw(text: &str) -> Result<(), Failure> {
    Ok(writeln!(stdout(), "{text}")?)
}

/// Prints a report as one line of JSON, or as the text returned by `render`.
pub(crate) fn print_report<R: Serialize>(
    report: &R,
    json: bool,
    render: impl FnOnce(&R) -> String,
) -> Result<(), Failure> {
    if json { print_raw(&self::json(report)?) } else { print(render(report).trim_end()) }
}

/// Prints a report like [`print_report`], but leaves the text of `render` as it is, because it contains rendered Markdown.
pub(crate) fn print_rendered_report<R: Serialize>(
    report: &R,
    json: bool,
    render: impl FnOnce(&R) -> String,
) -> Result<(), Failure> {
    print_raw(if json { self::json(report)? } else { render(report) }.trim_end())
}

/// Returns a report as one line of JSON.
pub(crate) fn json(report: &(impl Serialize + ?Sized)) -> Result<String, Failure> {
    Ok(serde_json::to_string(report).map_err(io::Error::from)?)
}

/// Returns a number followed by the noun that agrees with it.
pub(crate) fn pluralize(number: u64, singular: &str, plural: &str) -> String {
    format!("{number} {}", if number == 1 { singular } else { plural })
}
