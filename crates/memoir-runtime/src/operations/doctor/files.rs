//! Whether the files of the memory are private, and whether there is room for more.

use std::path::Path;

use super::DoctorReport;
use crate::home::Home;

/// Less free space than this is worth a note, in bytes.
const LITTLE_SPACE: u64 = 500 << 20;

/// Checks that nobody else can read the memory.
#[cfg(unix)]
pub(super) fn check_permissions(home: &Home, report: &mut DoctorReport) {
    use std::os::unix::fs::PermissionsExt as _;
    let data = home.data();
    let mut readable_by_others = Vec::new();
    let mut checked = 0;
    let entries = std::fs::read_dir(&data).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in std::iter::once(data.clone()).chain(entries) {
        let Ok(file) = std::fs::symlink_metadata(&path) else { continue };
        checked += 1;
        // Other files are protected by the permissions of the directory.
        let is_memory = path == data
            || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("memoir.db"));
        if is_memory && file.permissions().mode() & 0o077 != 0 {
            readable_by_others.push(path.display().to_string());
        }
    }
    let parent = data.ancestors().find(|folder| folder.exists());
    let is_closed = |folder: &Path| rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_err();
    match (checked, readable_by_others.is_empty()) {
        (0, _) if parent.is_some_and(is_closed) => report.add_bad(
            "files",
            format!(
                "{} cannot be made: {} is closed to you",
                data.display(),
                parent.unwrap_or(&data).display()
            ),
            "Make it writable, or set MEMOIR_HOME to a folder that is.",
        ),
        (0, _) => {
            report.add_good("files", format!("{} is not there yet; the first talk makes it", data.display()))
        }
        (_, true) => report.add_good("files", format!("{} is yours alone", data.display())),
        (_, false) => report.add_bad(
            "files",
            format!("others may read {}", readable_by_others.join(", ")),
            format!("chmod -R go= {}", data.display()),
        ),
    }
}

/// Checks that nobody else can read the memory.
#[cfg(not(unix))]
pub(super) fn check_permissions(home: &Home, report: &mut DoctorReport) {
    report.add_good("files", home.data().display().to_string());
}

/// Checks whether there is space left on the disk.
#[cfg(unix)]
pub(super) fn check_free_space(home: &Home, report: &mut DoctorReport) {
    let data = home.data();
    let Some(folder) = data.ancestors().find(|folder| folder.exists()) else { return };
    let Ok(disk) = rustix::fs::statvfs(folder) else { return };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let said = format!("{} free", show_bytes(free));
    match free {
        0..LITTLE_SPACE => {
            report.add_note("disk", said, "Make room: what cannot be written is not remembered.")
        }
        _ => report.add_good("disk", said),
    }
}

/// There is no portable way to ask.
#[cfg(not(unix))]
pub(super) fn check_free_space(_home: &Home, _report: &mut DoctorReport) {}

/// Returns a number of bytes as people read it, as in `1.43 MiB`.
pub(super) fn show_bytes(bytes: u64) -> String {
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
    fn bytes_are_shown_in_the_largest_unit() {
        let shown = [15, 1024, 1_500, 1_500_000, 1_500_000_000_000_000].map(show_bytes);
        assert_eq!(shown, ["15 B", "1.00 KiB", "1.46 KiB", "1.43 MiB", "1.33 PiB"]);
    }
}
