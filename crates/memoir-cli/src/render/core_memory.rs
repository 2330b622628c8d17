//! Formats the blocks of core memory and changes to them.

use std::fmt::Write as _;

use memoir_core::{CoreBlock, CoreEntry};
use memoir_runtime::{
    Failure,
    operations::core_memory::{CoreEditOutcome, CoreEditReport, CoreUndoReport},
    printable,
};

/// Returns every block with its size and its text.
pub(super) fn blocks(entries: &[CoreEntry]) -> String {
    let mut blocks = String::new();
    for entry in entries {
        let size = entry.text.chars().count();
        // Writing to a string cannot fail.
        let _ = writeln!(blocks, "{} ({size} of {} characters)", entry.block, CoreBlock::MAX_CHARS);
        let text = if entry.text.is_empty() { "(empty)" } else { &entry.text };
        for line in text.lines() {
            let _ = writeln!(blocks, "  {}", printable(line));
        }
    }
    blocks
}

/// Returns the outcome of an edit, or a failure if it was rejected. `command` is `memoir memory` or `/memory`.
pub(crate) fn edit(report: &CoreEditReport, command: &str) -> Result<String, Failure> {
    let block = report.block;
    let reason = match report.outcome {
        CoreEditOutcome::Unchanged => return Ok("Nothing was changed.".into()),
        CoreEditOutcome::Changed => {
            return Ok(format!("Changed core memory ({block}). Undo with `{command} undo`."));
        }
        CoreEditOutcome::TooLong { length, limit } => {
            format!("the block {block} would have {length} characters, but the limit is {limit}")
        }
        CoreEditOutcome::Conflict => format!("another process changed the block {block} during your edit"),
    };
    let failure = Failure::failed(reason);
    Err(match &report.draft {
        Some(path) => failure
            .hint(format!("Your text is in {}. Check `{command} show`, then edit again.", path.display())),
        None => failure.hint(format!("Check `{command} show`, then edit again.")),
    })
}

/// Returns the outcome of undoing a change.
pub(crate) fn undo(report: &CoreUndoReport) -> String {
    match &report.entry {
        Some(entry) if entry.text.is_empty() => format!("Core memory ({}) is empty again.", entry.block),
        Some(entry) => format!("Restored core memory ({}):\n{}", entry.block, printable(&entry.text)),
        None => "There is nothing to undo.".into(),
    }
}
