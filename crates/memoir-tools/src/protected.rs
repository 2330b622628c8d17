//! Paths in a project at which a file makes other programs run code, or instructs agents, later: the user's next `git
//! status`, `cd` or agent session would execute what a tool wrote.

use std::{
    collections::HashMap,
    fs, io,
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

/// A file with this name makes a directory a Git repository, whatever the directory is called.
const GIT_HEAD: &str = "HEAD";

/// Returns whether a path has one of these names, in any case.
pub(crate) fn has_protected_name(path: &Path) -> bool {
    let is_listed = |name: &str| NAMES.contains(&name.to_lowercase().as_str());
    path.iter().any(|name| name.to_str().is_some_and(is_listed))
        || path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(GIT_HEAD))
}

/// Returns whether writing to a path needs the user's approval each time.
pub fn is_protected(path: &Path, project: &Path) -> bool {
    has_protected_name(path.strip_prefix(project).unwrap_or(path))
        || path.ancestors().any(is_git_directory)
        || hooks_directory(project).is_some_and(|hooks| path.starts_with(hooks))
}

/// Returns a test for paths below one that is not protected itself.
pub(crate) fn protected_below(project: &Path) -> impl Fn(&Path) -> bool + use<> {
    let hooks = hooks_directory(project);
    move |path| is_named(path) || is_git_directory(path) || hooks.as_deref() == Some(path)
}

/// Returns whether a directory is a Git repository, or the part of one that belongs to a worktree.
fn is_git_directory(directory: &Path) -> bool {
    directory.join(GIT_HEAD).is_file()
        && (directory.join("objects").is_dir() || directory.join("commondir").is_file())
}

/// Returns the directory of the hooks of a repository, if its config names one (`core.hooksPath`).
fn hooks_directory(project: &Path) -> Option<PathBuf> {
    let config = project.join(".git/config");
    // Reading a pipe would block.
    let text = config.is_file().then(|| fs::read_to_string(config).ok()).flatten()?;
    let mut hooks = None;
    for line in text.lines() {
        if let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("hooksPath")
        {
            let directory = project.join(value.trim().trim_matches('"'));
            hooks = Some(directory.canonicalize().unwrap_or(directory));
        }
    }
    // Hooks elsewhere are not in the workspace.
    hooks.filter(|hooks| hooks.starts_with(project) && hooks != project)
}

/// Returns the protected paths that exist at the top of a directory, and its hooks.
pub(crate) fn find_protected(directory: &Path) -> Vec<PathBuf> {
    if is_git_directory(directory) {
        return vec![directory.to_owned()];
    }
    let is_protected = |path: &PathBuf| {
        // A mount covers what a link leads to, not the link.
        !path.is_symlink() && (is_named(path) || is_git_directory(path))
    };
    // A mount protects a directory, but not the directories above it from being renamed.
    let hooks = hooks_directory(directory).filter(|hooks| hooks.exists());
    let hooks =
        hooks.and_then(|hooks| Some(directory.join(hooks.strip_prefix(directory).ok()?.iter().next()?)));
    let entries = entries(directory).into_iter();
    entries.filter(|path| is_protected(path) || hooks.as_ref() == Some(path)).collect()
}

/// Returns whether a path itself has a protected name.
fn is_named(path: &Path) -> bool {
    path.file_name().is_some_and(|name| has_protected_name(Path::new(name)))
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect(),
        Err(error) => {
            tracing::debug!(directory = %directory.display(), %error, "could not look for protected paths");
            Vec::new()
        }
    }
}

/// Watches the protected names at the top of directories while a command runs. Those that a mount cannot protect,
/// because they do not exist or are links, are put in order when it has ended: what the command created under such a
/// name gets another one.
pub(crate) struct NameWatch {
    directories: Vec<PathBuf>,
    /// What existed, with the target if it is a link.
    existing: HashMap<PathBuf, Option<PathBuf>>,
}

impl NameWatch {
    pub(crate) fn start(directories: impl Iterator<Item = impl Into<PathBuf>>) -> Self {
        let directories: Vec<PathBuf> = directories.map(Into::into).collect();
        let existing = directories.iter().flat_map(|directory| find_named(directory)).collect();
        Self { directories, existing }
    }

    /// Renames what was created, and creates changed links again. Returns each new path with its new name.
    pub(crate) fn finish(&mut self) -> Vec<(PathBuf, PathBuf)> {
        let mut renamed = Vec::new();
        for directory in std::mem::take(&mut self.directories) {
            for (path, link) in find_named(&directory) {
                if self.existing.get(&path) == Some(&link) {
                    continue;
                }
                match set_aside(&path) {
                    Ok(new_name) => renamed.push((path, new_name)),
                    Err(error) => {
                        tracing::warn!(path = %path.display(), %error, "could not rename what a command created");
                    }
                }
            }
        }
        for (path, link) in self.existing.drain() {
            if let Some(target) = link
                && !path.is_symlink()
                && let Err(error) = std::os::unix::fs::symlink(target, &path)
            {
                tracing::warn!(path = %path.display(), %error, "could not create a link again");
            }
        }
        renamed.sort();
        renamed
    }
}

impl Drop for NameWatch {
    /// A cancelled command has ended too.
    fn drop(&mut self) {
        self.finish();
    }
}

fn find_named(directory: &Path) -> Vec<(PathBuf, Option<PathBuf>)> {
    let named = entries(directory).into_iter().filter(|path| is_named(path));
    named.map(|path| (path.clone(), fs::read_link(path).ok())).collect()
}

/// Gives a path a name that nothing acts on. Returns it.
fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let names = (1..).map(|number| match number {
        1 => path.with_file_name(format!("{name}.unapproved")),
        _ => path.with_file_name(format!("{name}.unapproved-{number}")),
    });
    let free = names.into_iter().find(|path| path.symlink_metadata().is_err());
    let free = free.ok_or_else(|| io::Error::other("every name is taken"))?;
    fs::rename(path, &free)?;
    Ok(free)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn repositories_and_hooks_are_protected_under_any_name() {
        let directory = tempfile::TempDir::new().unwrap();
        let project = directory.path().canonicalize().unwrap();
        for name in [".git", "bare.git/objects", "scripts/hooks", "src"] {
            fs::create_dir_all(project.join(name)).unwrap();
        }
        fs::write(project.join("bare.git/HEAD"), "ref: refs/heads/main").unwrap();
        fs::write(project.join(".git/config"), "[core]\n\thookspath = scripts/hooks\n").unwrap();
        for path in
            ["bare.git/config", "bare.git/hooks/x", "scripts/hooks/pre-commit", "src/HEAD", "a/.envrc"]
        {
            assert!(is_protected(&project.join(path), &project), "{path}");
        }
        for path in ["src/main.rs", "scripts/build.sh", "ahead.rs"] {
            assert!(!is_protected(&project.join(path), &project), "{path}");
        }
        let mut found = find_protected(&project);
        found.sort();
        assert_eq!(found, [".git", "bare.git", "scripts"].map(|name| project.join(name)));
        assert_eq!(find_protected(&project.join("bare.git")), [project.join("bare.git")]);
    }

    #[test]
    fn created_names_and_changed_links_are_put_in_order() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("AGENTS.md"), "mine").unwrap();
        std::os::unix::fs::symlink("AGENTS.md", path("CLAUDE.md")).unwrap();
        std::os::unix::fs::symlink("AGENTS.md", path("GEMINI.md")).unwrap();
        let mut watch = NameWatch::start([directory.path()].into_iter());
        fs::remove_file(path("CLAUDE.md")).unwrap();
        fs::write(path("CLAUDE.md"), "evil").unwrap();
        fs::remove_file(path("GEMINI.md")).unwrap();
        fs::write(path(".envrc"), "evil").unwrap();
        fs::write(path(".envrc.unapproved"), "mine").unwrap();
        fs::write(path("other"), "fine").unwrap();
        let renamed = watch.finish();
        assert_eq!(
            renamed,
            [
                (path(".envrc"), path(".envrc.unapproved-2")),
                (path("CLAUDE.md"), path("CLAUDE.md.unapproved"))
            ]
        );
        assert_eq!(fs::read_to_string(path("CLAUDE.md")).unwrap(), "mine");
        assert_eq!(fs::read_to_string(path("GEMINI.md")).unwrap(), "mine");
        assert!(!path(".envrc").exists() && path("other").exists());
    }
}
