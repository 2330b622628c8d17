//! Checks of file permissions and free disk space.

use std::path::Path;

use super::DoctorReport;
use crate::{config::Config, copies, home::Home};

/// Free disk space in bytes below which the check adds a note.
const LOW_SPACE: u64 = 500 << 20;

/// Checks that other users cannot access the data directory and the database.
#[cfg(unix)]
pub(super) fn check_permissions(home: &Home, report: &mut DoctorReport) {
    use std::os::unix::fs::PermissionsExt as _;
    let data = home.data();
    let mut exposed_paths = Vec::new();
    let mut checked_count = 0;
    let entries = std::fs::read_dir(&data).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in std::iter::once(data.clone()).chain(entries) {
        let Ok(file) = std::fs::symlink_metadata(&path) else { continue };
        checked_count += 1;
        // The permissions of the directory protect all other files.
        let must_be_private = path == data
            || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("memoir.db"));
        if must_be_private && file.permissions().mode() & 0o077 != 0 {
            exposed_paths.push(path.display().to_string());
        }
    }
    let nearest_existing = data.ancestors().find(|directory| directory.exists());
    let is_read_only =
        |directory: &Path| rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).is_err();
    match (checked_count, exposed_paths.is_empty()) {
        (0, _) if nearest_existing.is_some_and(is_read_only) => report.add_bad(
            "files",
            format!(
                "{} cannot be created: {} is not writable",
                data.display(),
                nearest_existing.unwrap_or(&data).display()
            ),
            "Make it writable, or set MEMOIR_HOME to a writable directory.",
        ),
        (0, _) => report.add_good(
            "files",
            format!("{} does not exist yet; the first conversation creates it", data.display()),
        ),
        (_, true) => report.add_good("files", format!("only you can access {}", data.display())),
        (_, false) => report.add_bad(
            "files",
            format!("other users can access {}", exposed_paths.join(", ")),
            format!("Run `chmod -R go= {}`.", data.display()),
        ),
    }
}

/// Permissions are only checked on Unix.
#[cfg(not(unix))]
pub(super) fn check_permissions(home: &Home, report: &mut DoctorReport) {
    report.add_good("files", home.data().display().to_string());
}

#[cfg(unix)]
pub(super) fn check_free_space(home: &Home, report: &mut DoctorReport) {
    let data = home.data();
    let Some(directory) = data.ancestors().find(|directory| directory.exists()) else { return };
    let Ok(disk) = rustix::fs::statvfs(directory) else { return };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let detail = format!("{} free", format_bytes(free));
    match free {
        0..LOW_SPACE => {
            report.add_note("disk", detail, "Free some space. New messages cannot be stored on a full disk.")
        }
        _ => report.add_good("disk", detail),
    }
}

/// Does nothing: the standard library cannot report free disk space.
#[cfg(not(unix))]
pub(super) fn check_free_space(_home: &Home, _report: &mut DoctorReport) {}

/// Reports the newest daily backup.
pub(super) fn check_backups(home: &Home, config: &Config, report: &mut DoctorReport) {
    let size = std::fs::metadata(home.database()).map_or(0, |file| file.len());
    let backups = copies::list(home);
    let Some(newest) = backups.first() else {
        return match size > config.backups.max_bytes() {
            true => report.add_note(
                "backups",
                "none, because the memory is larger than `backups.max_megabytes`",
                "Raise the limit, or run `memoir backup` yourself.",
            ),
            false => report.add_good("backups", "none yet; Memoir makes one on each day of use"),
        };
    };
    let count = if backups.len() == 1 { "1 backup".to_owned() } else { format!("{} backups", backups.len()) };
    report.add_good("backups", format!("{count}, the newest in {}", newest.directory.display()));
}

/// Formats a number of bytes with a unit, for example `1.43 MiB`.
pub(super) fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut size = bytes as f64;
    let mut unit = None;
    let mut larger = UNITS.into_iter();
    while size >= 1024.0
        && let Some(next) = larger.next()
    {
        size /= 1024.0;
        unit = Some(next);
    }
    match unit {
        Some(unit) => format!("{size:.2} {unit}"),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_formatted_in_the_largest_unit() {
        let formatted = [15, 1024, 1_500, 1_500_000, 1_500_000_000_000_000].map(format_bytes);
        assert_eq!(formatted, ["15 B", "1.00 KiB", "1.46 KiB", "1.43 MiB", "1.33 PiB"]);
    }
}
