//! Finds the histories of other programs on this machine. This runs on the first start, so it only lists
//! directories and opens no files.

use std::{
    fs::{self, DirEntry},
    path::{Path, PathBuf},
};

use crate::HistoryFormat;

/// The history files of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveredHistory {
    /// Format of all the files.
    pub format: HistoryFormat,
    /// Paths of the files, oldest first.
    pub files: Vec<PathBuf>,
}

/// Depth of the year, month and day directories in which Codex stores its sessions.
const CODEX_DEPTH: usize = 3;

/// Returns the histories that exist in the given directories of programs, such as `~/.claude` and `~/.codex`. A program
/// may have several directories.
pub fn discover(places: &[(HistoryFormat, PathBuf)]) -> Vec<DiscoveredHistory> {
    let mut histories: Vec<DiscoveredHistory> = Vec::new();
    for (format, directory) in places {
        let files = history_files(*format, directory);
        match histories.iter_mut().find(|history| history.format == *format) {
            Some(history) => history.files.extend(files),
            None if files.is_empty() => {}
            None => histories.push(DiscoveredHistory { format: *format, files }),
        }
    }
    histories
}

fn history_files(format: HistoryFormat, home: &Path) -> Vec<PathBuf> {
    match format {
        HistoryFormat::ClaudeCode => claude_code_files(home),
        HistoryFormat::Codex => codex_files(home),
        HistoryFormat::AiChat => matching_files(format, home, &[("", 0), ("sessions", 2), ("agents", 3)]),
        HistoryFormat::Copilot => {
            matching_files(format, home, &[("history-session-state", 0), ("session-state", 1)])
        }
        HistoryFormat::Cursor => {
            matching_files(format, home, &[("globalStorage", 0), ("workspaceStorage", 1)])
        }
        HistoryFormat::GeminiCli => matching_files(format, home, &[("tmp", 2)]),
        HistoryFormat::Llm => matching_files(format, home, &[("", 0)]),
        HistoryFormat::OpenCode => matching_files(format, home, &[("", 0), ("storage/session", 1)]),
        // These programs keep their histories elsewhere.
        HistoryFormat::ChatGpt
        | HistoryFormat::Claude
        | HistoryFormat::Gemini
        | HistoryFormat::Memoir
        | HistoryFormat::OpenWebUi
        | HistoryFormat::WhatsApp => Vec::new(),
    }
}

/// Lists the files of a format in some directories of a program, each with its depth. The files of one directory are
/// sorted by modification time.
fn matching_files(format: HistoryFormat, home: &Path, directories: &[(&str, usize)]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for (directory, depth) in directories {
        let mut files = Vec::new();
        visit_files(&home.join(directory), *depth, &mut |entry, _| {
            let path = entry.path();
            if format.includes_file(&path) {
                let modified = entry.metadata().and_then(|metadata| metadata.modified()).ok();
                files.push((modified, path));
            }
        });
        files.sort();
        all.extend(files.into_iter().map(|(_, path)| path));
    }
    all
}

/// Lists `projects/<project>/<session>.jsonl`, sorted by modification time. Skips the files of sub-agents.
fn claude_code_files(home: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    visit_files(&home.join("projects"), 1, &mut |entry, name| {
        if name.ends_with(".jsonl") && !name.starts_with("agent-") {
            let modified = entry.metadata().and_then(|metadata| metadata.modified()).ok();
            files.push((modified, entry.path()));
        }
    });
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

/// Lists `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`, sorted by name and therefore by time. The
/// oldest files are in `sessions` itself, archived ones in `archived_sessions`.
fn codex_files(home: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for directory in ["sessions", "archived_sessions"] {
        visit_files(&home.join(directory), CODEX_DEPTH, &mut |entry, name| {
            if name.starts_with("rollout-") && name.ends_with(".jsonl") {
                files.push((name.to_owned(), entry.path()));
            }
        });
    }
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

/// Calls `visitor` for every file in a directory and in its subdirectories, up to `depth` levels deep.
/// Symbolic links are not followed, so no file is visited twice.
fn visit_files(directory: &Path, depth: usize, visitor: &mut dyn FnMut(&DirEntry, &str)) {
    // A directory that cannot be listed is not offered; the user can still name its files.
    let log_error = |error: std::io::Error| {
        if error.kind() != std::io::ErrorKind::NotFound {
            tracing::debug!(directory = %directory.display(), %error, "could not list a directory of another program");
        }
    };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return log_error(error),
    };
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                log_error(error);
                continue;
            }
        };
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => visit_files(&entry.path(), depth - 1, visitor),
            Ok(kind) if kind.is_file() => {
                if let Some(name) = entry.file_name().to_str() {
                    visitor(&entry, name);
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

    fn names(history: &DiscoveredHistory) -> Vec<&str> {
        history.files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect()
    }

    #[test]
    fn missing_directories_are_ignored() {
        let home = tempfile::tempdir().unwrap();
        let places = [HistoryFormat::ClaudeCode, HistoryFormat::Codex, HistoryFormat::Cursor]
            .map(|format| (format, home.path().join(format.name())));
        assert_eq!(discover(&places), []);
    }

    #[test]
    fn sessions_are_listed_oldest_first() {
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
        let histories = discover(&[(HistoryFormat::ClaudeCode, claude), (HistoryFormat::Codex, codex)]);
        assert_eq!(
            histories.iter().map(|history| history.format).collect::<Vec<_>>(),
            [HistoryFormat::ClaudeCode, HistoryFormat::Codex]
        );
        assert_eq!(names(&histories[0]), ["b.jsonl", "c.jsonl", "a.jsonl"]);
        assert_eq!(
            names(&histories[1]),
            [
                "rollout-2025-09-30T08-00-00-c.jsonl",
                "rollout-2025-10-01T08-00-00-a.jsonl",
                "rollout-2025-10-02T08-00-00-b.jsonl"
            ]
        );
    }

    #[test]
    fn files_with_keys_and_settings_are_not_listed() {
        let home = tempfile::tempdir().unwrap();
        for (format, files, others) in [
            (
                HistoryFormat::AiChat,
                &["agents/cook/sessions/x.yaml", "messages.md", "sessions/_/y.yaml", "sessions/z.yaml"][..],
                &["config.yaml", ".env", "roles/r.md"][..],
            ),
            (
                HistoryFormat::Copilot,
                &[
                    "history-session-state/session_1.json",
                    "session-state/2.jsonl",
                    "session-state/3/events.jsonl",
                ],
                &["config.json", "session-state/3/workspace.yaml", "session-store.db"],
            ),
            (
                HistoryFormat::Cursor,
                &["globalStorage/state.vscdb", "workspaceStorage/0f/state.vscdb"],
                &["globalStorage/state.vscdb.backup", "settings.json", "workspaceStorage/0f/workspace.json"],
            ),
            (
                HistoryFormat::GeminiCli,
                &[
                    "tmp/0f/chats/session-2025-10-18T14-57-1.json",
                    "tmp/lamp/chats/session-2026-03-02T09-00-2.jsonl",
                ],
                &[
                    "oauth_creds.json",
                    "settings.json",
                    "tmp/lamp/logs.json",
                    "tmp/lamp/chats/2/3.jsonl",
                    "tmp/lamp/chats/session-2026-03-02T09-00-2.jsonl.tmp-1",
                ],
            ),
            (HistoryFormat::Llm, &["logs.db"], &["keys.json", "embeddings.db"]),
            (
                HistoryFormat::OpenCode,
                &["opencode-dev.db", "opencode.db", "storage/session/p/ses_1.json"],
                &[
                    "auth.json",
                    "opencode.db-wal",
                    "storage/session_diff/ses_1.json",
                    "storage/todo/ses_1.json",
                ],
            ),
        ] {
            let directory = home.path().join(format.name());
            for file in files.iter().chain(others) {
                write(&directory.join(file), 0);
            }
            let mut paths = discover(&[(format, directory.clone())]).remove(0).files;
            paths.sort();
            let expected: Vec<PathBuf> = files.iter().map(|file| directory.join(file)).collect();
            assert_eq!(paths, expected, "{}", format.name());
        }
    }
}
