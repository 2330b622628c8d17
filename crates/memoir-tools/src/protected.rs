//! Paths in a project at which a file makes other programs run code, or instructs agents, later: the user's next `git
//! status`, `cd` or agent session would execute what a tool wrote.

use std::path::{Path, PathBuf};

/// Names of directories and files, in lower case.
const NAMES: [&str; 19] = [
    ".git",
    ".gitmodules",
    ".memoir",
    ".agents",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".husky",
    ".envrc",
    ".mcp.json",
    "agents.md",
    "claude.md",
    "gemini.md",
    ".cursorrules",
    "package.json",
];

/// Returns whether writing to a path needs the user's approval each time.
pub fn is_protected(path: &Path) -> bool {
    path.iter().any(|name| name.to_str().is_some_and(|name| NAMES.contains(&name.to_lowercase().as_str())))
}

/// Returns the protected paths that exist in a directory.
pub(crate) fn find_protected(directory: &Path) -> Vec<PathBuf> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => {
            tracing::debug!(directory = %directory.display(), %error, "could not look for protected paths");
            return Vec::new();
        }
    };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    names.filter(|name| is_protected(Path::new(name))).map(|name| directory.join(name)).collect()
}
