//! Backups as text.

use memoir_runtime::operations::backup::{BackupReport, RestoreReport, VerifiedBackup};

/// Returns where a backup is.
pub(crate) fn made(report: &BackupReport) -> String {
    format!(
        "The memory is in {} ({}), and was checked. memoir restore puts it back.",
        report.folder.display(),
        indicatif::HumanBytes(report.bytes)
    )
}

/// Returns what restoring a backup would replace.
pub(crate) fn plan(backup: &VerifiedBackup) -> String {
    format!("The memory at {} would be replaced, and kept beside it.", backup.replaces.display())
}

/// Returns where the previous memory is.
pub(crate) fn restored(report: &RestoreReport) -> String {
    format!("The memory is as it was then. What was here is in {}.", report.previous.display())
}
