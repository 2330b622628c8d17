//! Turns the reports of operations into text. Nothing here calls an operation or prints.

pub(crate) mod conversations;
pub(crate) mod core_memory;
pub(crate) mod costs;
pub(crate) mod forgetting;
pub(crate) mod import;
pub(crate) mod memory;
pub(crate) mod model_reference;
pub(crate) mod models;
pub(crate) mod search;

use memoir_runtime::failure::Failure;
use serde::Serialize;

/// Returns a report as one line of JSON, for scripts.
pub(crate) fn json(report: &(impl Serialize + ?Sized)) -> Result<String, Failure> {
    Ok(serde_json::to_string(report).map_err(std::io::Error::from)?)
}

/// Returns a number with its noun.
fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
