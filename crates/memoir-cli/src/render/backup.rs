//! Formats the results of backing up and restoring memory.

use memoir_runtime::operations::{
    backup::{BackupReport, RestoreReport, VerifiedBackup},
    repair::RepairReport,
};

use super::pluralize;

/// Returns the path and size of a new backup.
pub(crate) fn report(report: &BackupReport) -> String {
    format!(
        "Backed up the memory to {} ({}) and verified the copy. Restore it with `memoir restore`.",
        report.directory.display(),
        indicatif::HumanBytes(report.bytes)
    )
}

/// Returns a warning that names the memory to be replaced.
pub(crate) fn plan(backup: &VerifiedBackup) -> String {
    format!(
        "This will replace the memory at {} with the backup {}. The current memory will be kept next to it.",
        backup.replaces.display(),
        backup.directory.display()
    )
}

/// Returns a confirmation with the path of the replaced memory.
pub(crate) fn restore_report(report: &RestoreReport) -> String {
    format!("Restored the backup. The previous memory is in {}.", report.previous.display())
}

/// Returns what was salvaged, what is lost, and where the damaged memory is.
pub(crate) fn repair_report(report: &RepairReport) -> String {
    let salvage = &report.salvage;
    let (messages, lost) = salvage.table("messages");
    let (conversations, _) = salvage.table("conversations");
    let mut text = format!(
        "Repaired the memory: it has {} in {}.",
        pluralize(messages + salvage.recreated_messages, "message", "messages"),
        pluralize(conversations, "conversation", "conversations")
    );
    let lost = lost.saturating_sub(salvage.recreated_messages);
    let others = salvage.tables.iter().filter(|table| table.lost > 0 && table.name != "messages");
    let others: Vec<String> = others.map(|table| format!("{} ({})", table.name, table.lost)).collect();
    match (lost, salvage.unreadable_pages) {
        (0, 0) => text.push_str(" Nothing is known to be missing."),
        (0, _) => text.push_str(" No message is known to be missing, but parts of the file were unreadable."),
        _ => text.push_str(&format!(" Lost: {}.", pluralize(lost, "message", "messages"))),
    }
    if !others.is_empty() {
        text.push_str(&format!("\nOther lost rows: {}.", others.join(", ")));
    }
    if let Some(backup) = report.backup.as_ref().filter(|_| salvage.unreadable_pages > 0) {
        text.push_str(&format!("\nWhat is missing may be in the backup {}.", backup.display()));
    }
    text.push_str(&format!("\nThe previous file is kept in {}.", report.previous.display()));
    text
}
