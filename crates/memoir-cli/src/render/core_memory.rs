//! Core memory: its blocks, and changes of them.

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
        let _ = writeln!(blocks, "{} ({size} of {} characters)", entry.block, CoreBlock::LONGEST);
        let text = if entry.text.is_empty() { "nothing yet" } else { &entry.text };
        for line in text.lines() {
            let _ = writeln!(blocks, "  {}", printable(line));
        }
    }
    blocks
}

/// Returns what an edit did, or why it was refused. `command` is the command that edits core memory where the user is.
pub(crate) fn edit(report: &CoreEditReport, command: &str) -> Result<String, Failure> {
    let block = report.block;
    let reason = match report.outcome {
        CoreEditOutcome::Unchanged => return Ok("Nothing was changed.".into()),
        CoreEditOutcome::Changed => {
            return Ok(format!("Core memory ({block}) was changed; {command} undo takes it back."));
        }
        CoreEditOutcome::TooLong { length, limit } => {
            format!("the block {block} has {length} characters, and {limit} are its limit")
        }
        CoreEditOutcome::Conflict => format!("the block {block} was changed by another process meanwhile"),
    };
    let failure = Failure::failed(reason);
    Err(match &report.draft {
        Some(path) => failure
            .hint(format!("Your text is in {}; look at {command} show and edit again.", path.display())),
        None => failure.hint(format!("Look at {command} show and edit again.")),
    })
}

/// Returns what taking back a change did.
pub(crate) fn undo(report: &CoreUndoReport) -> String {
    match &report.entry {
        Some(entry) if entry.text.is_empty() => format!("Core memory ({}) is empty again.", entry.block),
        Some(entry) => format!("Core memory ({}) says again:\n{}", entry.block, printable(&entry.text)),
        None => "There is nothing to undo.".into(),
    }
}
