//! Imports, and the histories that can be imported.

use std::fmt::Write as _;

use memoir_runtime::{
    operations::import::{DiscoveryReport, ImportReport, LocalHistory},
    printable,
};

use super::count;

/// Returns the histories of other agents on this machine, a line each.
pub(crate) fn histories(report: &DiscoveryReport) -> String {
    if report.histories.is_empty() {
        return "No histories of other agents were found on this machine. import chatgpt FILE, claude FILE, memoir FILE or \
                whatsapp FILE brings in an export.\n"
            .into();
    }
    let line = |history: &LocalHistory| {
        let imported = match history.imported {
            0 => String::new(),
            imported => format!(" ({} here already)", count(imported, "is", "are")),
        };
        format!("{}{imported}: import {} brings them in.\n", sessions(history), history.source)
    };
    report.histories.iter().map(line).collect()
}

/// Returns the number of sessions of a program, and its name.
pub(crate) fn sessions(history: &LocalHistory) -> String {
    format!("{} of {}", count(history.files.len() as u64, "session", "sessions"), history.program)
}

/// Returns what an import added and what it left out.
pub(crate) fn report(report: &ImportReport) -> String {
    let would = if report.dry_run { "would be " } else { "" };
    let mut text = format!(
        "{} in {} {would}added; {} here already.\n",
        count(report.messages, "message", "messages"),
        count(report.conversations, "conversation", "conversations"),
        count(report.known, "conversation was", "conversations were"),
    );
    // Writing to a string cannot fail.
    for (kind, count) in &report.skipped {
        let _ = writeln!(text, "Left out: {count} {kind}.");
    }
    for title in &report.different {
        let _ = writeln!(text, "Left as it is: {}, which says something else here by now.", printable(title));
    }
    if !report.dry_run && report.messages > 0 {
        text.push_str(
            "They are summarised and indexed in the background; memoir worker run --until-idle does it now.\n",
        );
    }
    text
}
