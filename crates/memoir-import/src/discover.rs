//! Finding what other programs keep on this machine, from listings of folders alone: it happens at a first start, and no file
//! is opened for it.

use std::{
    fs::{self, DirEntry},
    path::{Path, PathBuf},
};

use crate::Format;

/// Files of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What they are.
    pub format: Format,
    /// Where they are, oldest first.
    pub files: Vec<PathBuf>,
}

/// How deep Codex files its sessions: by year, month and day.
const DAYS: usize = 3;

/// The sessions of Claude Code and of Codex, if there are any. The homes are `~/.claude` and `~/.codex`, unless their programs
/// were told otherwise.
pub fn discover(claude_home: &Path, codex_home: &Path) -> Vec<Found> {
    let found = [
        Found { format: Format::ClaudeCode, files: claude_code(claude_home) },
        Found { format: Format::Codex, files: codex(codex_home) },
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

/// Shows the files of a folder, and of those in it so many levels down. Links are not followed, so that nothing is found twice.
fn visit(folder: &Path, levels: usize, show: &mut dyn FnMut(&DirEntry, &str)) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
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

    fn names(found: &Found) -> Vec<&str> {
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
            [Format::ClaudeCode, Format::Codex]
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
