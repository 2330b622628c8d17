//! Paths in a project at which a file makes other programs run code, or instructs agents, later: the user's next `git
//! status`, `cd` or agent session would execute what a tool wrote.

use std::{
    fs::DirEntry,
    path::{Path, PathBuf},
};

/// Names of directories and files, in lower case.
const NAMES: [&str; 51] = [
    ".git",
    ".gitmodules",
    ".gitattributes",
    ".githooks",
    ".memoir",
    ".agents",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".opencode",
    ".kiro",
    ".continue",
    ".windsurf",
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".husky",
    ".github",
    ".cargo",
    ".ssh",
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".tool-versions",
    ".mcp.json",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pre-commit-config.yaml",
    ".exrc",
    ".nvimrc",
    ".vimrc",
    ".gdbinit",
    ".dir-locals.el",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".aider.conf.yml",
    "agents.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
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
    // A mount covers what a link leads to, not the link.
    let is_link = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    let entries = entries.filter_map(|entry| entry.ok().filter(|entry| !is_link(entry)));
    entries.filter(|entry| is_protected(Path::new(&entry.file_name()))).map(|entry| entry.path()).collect()
}
