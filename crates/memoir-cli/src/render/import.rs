//! Formats the results of imports, and the histories that can be imported.

use std::fmt::Write as _;

use memoir_runtime::{
    operations::import::{DiscoveryReport, FollowReport, ImportReport, LocalHistory},
    printable,
};

use super::pluralize;

/// Returns one line per history found on this machine.
pub(crate) fn histories(report: &DiscoveryReport) -> String {
    if report.histories.is_empty() {
        return "No histories of other agents were found on this machine. Import an exported file with \
                `memoir import PROGRAM FILE`; the programs are chatgpt, claude, gemini, memoir, open-webui and \
                whatsapp.\n"
            .into();
    }
    let line = |history: &LocalHistory| {
        let imported = match history.imported {
            0 => String::new(),
            imported => format!(" ({imported} already imported)"),
        };
        format!("{}{imported}. Import with `memoir import {}`.\n", sessions(history), history.source)
    };
    report.histories.iter().map(line).collect()
}

/// Returns what following other programs has stored.
pub(crate) fn followed(report: &FollowReport) -> String {
    format!(
        "Stored {} of {}.",
        pluralize(report.messages, "new message", "new messages"),
        pluralize(report.conversations, "conversation", "conversations")
    )
}

/// Returns the number of sessions or files in a history, and the program that they are from.
pub(crate) fn sessions(history: &LocalHistory) -> String {
    let count = history.files.len() as u64;
    let files = match history.has_session_files {
        true => pluralize(count, "session", "sessions"),
        false => pluralize(count, "file", "files"),
    };
    format!("{files} from {}", history.program)
}

/// Returns the number of imported and skipped items.
pub(crate) fn report(report: &ImportReport) -> String {
    let verb = if report.dry_run { "Would import" } else { "Imported" };
    let mut text = format!(
        "{verb} {} in {}; {} already imported.\n",
        pluralize(report.messages, "message", "messages"),
        pluralize(report.conversations, "conversation", "conversations"),
        pluralize(report.unchanged, "conversation was", "conversations were"),
    );
    // Writing to a string cannot fail.
    for (kind, count) in &report.skipped {
        let _ = writeln!(text, "Skipped: {kind} ({count}).");
    }
    for title in &report.different {
        let _ =
            writeln!(text, "Skipped: {}, which differs from the conversation in memory.", printable(title));
    }
    if !report.dry_run && report.messages > 0 {
        text.push_str(
            "New messages will be summarized and embedded in the background. To do it now, run \
             `memoir worker run --until-idle`.\n",
        );
    }
    text
}
