//! Formats the results of backing up and restoring memory.

use memoir_runtime::operations::backup::{BackupReport, RestoreReport, VerifiedBackup};

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
        "This will replace the memory at {}. The current memory will be kept next to it.",
        backup.replaces.display()
    )
}

/// Returns a confirmation with the path of the replaced memory.
pub(crate) fn restore_report(report: &RestoreReport) -> String {
    format!("Restored the backup. The previous memory is in {}.", report.previous.display())
}
