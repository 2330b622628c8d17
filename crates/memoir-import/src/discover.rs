//! Finds the histories of other programs on this machine by listing directories. It runs on the first start, so no file is opened.

use std::{
    fs::{self, DirEntry},
    path::{Path, PathBuf},
};

use crate::HistoryFormat;

/// The history files of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveredHistory {
    /// Their format.
    pub format: HistoryFormat,
    /// Their paths, oldest first.
    pub files: Vec<PathBuf>,
}

/// How deep Codex files its sessions: by year, month and day.
const DAYS: usize = 3;

/// Returns the sessions of Claude Code and of Codex, if there are any. The homes are `~/.claude` and `~/.codex`, unless the programs
/// are configured otherwise.
pub fn discover(claude_home: &Path, codex_home: &Path) -> Vec<DiscoveredHistory> {
    let found = [
        DiscoveredHistory { format: HistoryFormat::ClaudeCode, files: claude_code(claude_home) },
        DiscoveredHistory { format: HistoryFormat::Codex, files: codex(codex_home) },
    ];
    found.into_iter().filter(|found| !found.files.is_empty()).collect()
}

/// `projects/<folder>/<session>.jsonl`, by the time they were last written. Sub-agents have files of their own.
fn claude_code(home: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    visit(&home.join("projects"), 1, &mut |entry, name| {
        if name.ends_with(".jsonl") && !name.starts_with("agent-") {
            let changed = entry.metadata().and_then(|metadata| metadata.modified()).ok();
            files.push((changed, entry.path()));
        }
    });
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

/// `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`, by their names, which begin with the time. The oldest lie in
/// `sessions` itself, those that were put away in `archived_sessions`.
fn codex(home: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in ["sessions", "archived_sessions"] {
        visit(&home.join(folder), DAYS, &mut |entry, name| {
            if name.starts_with("rollout-") && name.ends_with(".jsonl") {
                files.push((name.to_owned(), entry.path()));
            }
        });
    }
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

/// Calls `show` for the files in a directory and in its subdirectories, `levels` deep. Links are not followed, so that no file is
/// shown twice.
fn visit(folder: &Path, levels: usize, show: &mut dyn FnMut(&DirEntry, &str)) {
    // A history that cannot be listed is one that cannot be offered; the user can still name its files.
    let ignore = |error: std::io::Error| {
        if error.kind() != std::io::ErrorKind::NotFound {
            tracing::debug!(folder = %folder.display(), %error, "could not list a directory of another program");
        }
    };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return ignore(error),
    };
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                ignore(error);
                continue;
            }
        };
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && levels > 0 => visit(&entry.path(), levels - 1, show),
            Ok(kind) if kind.is_file() => {
                if let Some(name) = entry.file_name().to_str() {
                    show(&entry, name);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use std::time::{Duration, SystemTime};

    use super::*;

    fn write(path: &Path, age: u64) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = fs::File::create(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age)).unwrap();
    }

    fn names(found: &DiscoveredHistory) -> Vec<&str> {
        found.files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect()
    }

    #[test]
    fn missing_folders_are_nothing() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(discover(&home.path().join("a"), &home.path().join("b")), []);
    }

    #[test]
    fn sessions_are_found_oldest_first() {
        let home = tempfile::tempdir().unwrap();
        let (claude, codex) = (home.path().join("claude"), home.path().join("codex"));
        write(&claude.join("projects/-x/b.jsonl"), 30);
        write(&claude.join("projects/-x/a.jsonl"), 10);
        write(&claude.join("projects/-y/c.jsonl"), 20);
        for other in ["-x/agent-1.jsonl", "-x/notes.txt", "-x/a/subagents/agent-2.jsonl"] {
            write(&claude.join("projects").join(other), 40);
        }
        write(&codex.join("sessions/2025/10/02/rollout-2025-10-02T08-00-00-b.jsonl"), 0);
        write(&codex.join("sessions/2025/09/30/rollout-2025-09-30T08-00-00-c.jsonl"), 0);
        write(&codex.join("archived_sessions/rollout-2025-10-01T08-00-00-a.jsonl"), 0);
        write(&codex.join("sessions/2025/10/02/rollout-2025-10-02T09-00-00-d.jsonl.zst"), 0);
        write(&codex.join("history.jsonl"), 0);
        #[cfg(unix)]
        std::os::unix::fs::symlink(claude.join("projects"), claude.join("projects/-x/loop")).unwrap();
        let found = discover(&claude, &codex);
        assert_eq!(
            found.iter().map(|found| found.format).collect::<Vec<_>>(),
            [HistoryFormat::ClaudeCode, HistoryFormat::Codex]
        );
        assert_eq!(names(&found[0]), ["b.jsonl", "c.jsonl", "a.jsonl"]);
        assert_eq!(
            names(&found[1]),
            [
                "rollout-2025-09-30T08-00-00-c.jsonl",
                "rollout-2025-10-01T08-00-00-a.jsonl",
                "rollout-2025-10-02T08-00-00-b.jsonl"
            ]
        );
    }
}
