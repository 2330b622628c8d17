//! Check of the log file.

use std::path::Path;

use super::{DoctorReport, files::format_bytes};

/// Reports the path of the log file, its size and the number of warnings in it. Reading the whole file is cheap because
/// it is rotated at about 1 MiB.
pub(super) fn check(path: &Path, report: &mut DoctorReport) {
    let detail = match std::fs::read(path) {
        Ok(bytes) => {
            let warnings = count_warnings(&String::from_utf8_lossy(&bytes));
            let warnings =
                if warnings == 1 { "1 warning".to_owned() } else { format!("{warnings} warnings") };
            format!("{}, {}, {warnings}", path.display(), format_bytes(bytes.len() as u64))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            format!("{} (empty)", path.display())
        }
        Err(error) => {
            let detail = format!("could not read {}: {error}", path.display());
            return report.add_note("log", detail, "Check the permissions of the file.");
        }
    };
    report.add_good("log", detail);
}

/// Returns the number of warnings and errors. The level is the second word of a line.
fn count_warnings(log: &str) -> usize {
    let is_warning = |line: &&str| matches!(line.split_whitespace().nth(1), Some("WARN" | "ERROR"));
    log.lines().filter(is_warning).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_and_errors_are_counted_by_their_level() {
        let log = "2026-05-01T09:00:00Z  WARN memoir_agent: retrying\n\
                   2026-05-01T09:00:01Z DEBUG memoir_agent: a WARN in the text\n\
                   2026-05-01T09:00:02Z ERROR memoir_store: failed\n";
        assert_eq!(count_warnings(log), 2);
        assert_eq!(count_warnings(""), 0);
    }
}
