//! Paths in a project at which a file makes other programs run code, or instructs agents, later: the user's next `git
//! status`, `cd` or agent session would execute what a tool wrote.

use std::{
    collections::HashMap,
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::process_tree::run_registered;

/// Names of directories and files, in lower case.
const NAMES: [&str; 61] = [
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
    ".nvim.lua",
    ".lldbinit",
    ".mise.local.toml",
    "mise.local.toml",
    "lefthook.yml",
    ".lefthook.yml",
    ".vimrc",
    ".gdbinit",
    ".dir-locals.el",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".zprofile",
    ".zlogin",
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

/// Environment variables with which Git would report on another repository, or with another config.
const REDIRECTING_VARIABLES: [&str; 6] =
    ["GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"];

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
        || link_targets(project).any(|target| path.starts_with(target))
        || find_repository(path).and_then(hooks_directory).is_some_and(|hooks| path.starts_with(hooks))
}

/// Returns the repository that contains a path.
fn find_repository(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|directory| directory.join(".git").exists())
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

/// Returns the directory of the hooks of a repository, wherever its config puts it (`core.hooksPath`).
fn hooks_directory(repository: &Path) -> Option<PathBuf> {
    if repository.join(".git").symlink_metadata().is_err() {
        return None;
    }
    // Only Git understands all of its config: includes, conditions, continued lines.
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(["rev-parse", "--git-path", "hooks"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    REDIRECTING_VARIABLES.iter().for_each(|name| {
        command.env_remove(name);
    });
    // Where Git fails, it does not run hooks for the user either.
    let name =
        String::from_utf8(run_registered(&mut command).ok().filter(|output| output.status.success())?.stdout)
            .ok()?;
    let directory = repository.join(name.trim_end_matches('\n'));
    Some(directory.canonicalize().unwrap_or(directory)).filter(|hooks| !repository.starts_with(hooks))
}

/// Returns what the protected names at the top of a directory lead to, if they are links.
fn link_targets(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let links = entries(directory).unwrap_or_default().into_iter();
    links.filter(|path| path.is_symlink() && is_named(path)).filter_map(|path| path.canonicalize().ok())
}

/// Returns the protected paths that exist at the top of a directory, its hooks, and what links among them lead to, as far
/// as a command could write there.
pub(crate) fn find_protected(directory: &Path, writable: &[&Path]) -> Vec<PathBuf> {
    if is_git_directory(directory) {
        return vec![directory.to_owned()];
    }
    let is_protected = |path: &PathBuf| {
        // A mount covers what a link leads to, not the link.
        !path.is_symlink() && (is_named(path) || is_git_directory(path))
    };
    let is_writable = |path: &PathBuf| {
        writable.iter().any(|directory| path.starts_with(directory) && path != directory) && path.exists()
    };
    let others = hooks_directory(directory).into_iter().chain(link_targets(directory)).filter(is_writable);
    entries(directory).unwrap_or_default().into_iter().filter(is_protected).chain(others).collect()
}

/// Returns whether a path itself has a protected name.
fn is_named(path: &Path) -> bool {
    path.file_name().is_some_and(|name| has_protected_name(Path::new(name)))
}

fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect()
}

/// Watches the protected names at the top of directories while a command runs. Those that a mount cannot protect,
/// because they do not exist or are links, are put in order when it has ended: what the command created under such a
/// name gets another one.
pub(crate) struct NameWatch {
    directories: Vec<(PathBuf, fs::Permissions)>,
    /// What existed, and where it leads if it is a link.
    existing: HashMap<PathBuf, Option<Link>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Link {
    target: PathBuf,
    /// What the target is in the end, unless it does not exist. Other links may lie between.
    real: Option<PathBuf>,
}

impl Link {
    fn read(path: &Path) -> Option<Self> {
        Some(Self { target: fs::read_link(path).ok()?, real: path.canonicalize().ok() })
    }
}

/// What a command created under a protected name.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CreatedName {
    pub(crate) path: PathBuf,
    /// The name that it has now, unless it could not be renamed.
    pub(crate) new_path: Option<PathBuf>,
}

impl NameWatch {
    /// # Errors
    ///
    /// Fails if a directory cannot be listed. Then nothing can be protected, so no command may run.
    pub(crate) fn start(directories: impl Iterator<Item = impl Into<PathBuf>>) -> io::Result<Self> {
        let (mut watched, mut existing) = (Vec::new(), HashMap::new());
        for directory in directories {
            let directory = directory.into();
            existing.extend(find_named(&directory)?);
            let permissions = directory.metadata()?.permissions();
            watched.push((directory, permissions));
        }
        Ok(Self { directories: watched, existing })
    }

    /// Renames what was created, and creates changed links again. Returns what was created.
    pub(crate) fn finish(self) -> Vec<CreatedName> {
        let mut created = Vec::new();
        for (directory, permissions) in &self.directories {
            if let Err(error) = restore_access(directory, permissions) {
                tracing::debug!(directory = %directory.display(), %error, "could not restore permissions");
            }
            let named = find_named(directory).unwrap_or_else(|error| {
                tracing::warn!(directory = %directory.display(), %error, "could not check what a command created");
                Vec::new()
            });
            for (path, link) in named {
                if self.existing.get(&path) == Some(&link) {
                    continue;
                }
                let new_path = set_aside(&path).inspect_err(|error| {
                    tracing::warn!(path = %path.display(), %error, "could not rename what a command created");
                });
                created.push(CreatedName { path, new_path: new_path.ok() });
            }
        }
        for (path, link) in self.existing {
            if let Some(link) = link
                && !path.is_symlink()
                && let Err(error) = restore_link(&path, &link)
            {
                tracing::warn!(path = %path.display(), %error, "could not create a link again");
            }
        }
        created.sort();
        created
    }
}

fn find_named(directory: &Path) -> io::Result<Vec<(PathBuf, Option<Link>)>> {
    let named = entries(directory)?.into_iter().filter(|path| is_named(path));
    Ok(named.map(|path| (path.clone(), Link::read(&path))).collect())
}

/// Gives the owner back what a command took away by making a directory unreadable or read-only.
fn restore_access(directory: &Path, before: &fs::Permissions) -> io::Result<()> {
    let mut permissions = directory.metadata()?.permissions();
    let missing = before.mode() & 0o700 & !permissions.mode();
    if missing != 0 {
        permissions.set_mode(permissions.mode() | missing);
        fs::set_permissions(directory, permissions)?;
    }
    Ok(())
}

/// Creates a link again, unless what lies behind it has changed.
fn restore_link(path: &Path, link: &Link) -> io::Result<()> {
    std::os::unix::fs::symlink(&link.target, path)?;
    if path.canonicalize().ok() != link.real {
        fs::remove_file(path)?;
    }
    Ok(())
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
        let git = |arguments: &[&str]| {
            let status = std::process::Command::new("git").arg("-C").arg(&project).args(arguments).status();
            assert!(status.unwrap().success());
        };
        git(&["init", "-q", "."]);
        git(&["init", "-q", "--bare", "bare.git"]);
        for name in ["scripts/hooks", "src", "docs"] {
            fs::create_dir_all(project.join(name)).unwrap();
        }
        fs::write(project.join("docs/guide.md"), "").unwrap();
        std::os::unix::fs::symlink("docs/guide.md", project.join("CLAUDE.md")).unwrap();
        fs::write(project.join("more"), "[core] hooksPath = scripts/hooks ; ours\n").unwrap();
        git(&["config", "include.path", "../more"]);
        for path in
            ["bare.git/config", "bare.git/hooks/x", "scripts/hooks/pre-commit", "src/HEAD", "a/.envrc"]
        {
            assert!(is_protected(&project.join(path), &project), "{path}");
        }
        for path in ["src/main.rs", "scripts/build.sh", "ahead.rs"] {
            assert!(!is_protected(&project.join(path), &project), "{path}");
        }
        let mut found = find_protected(&project, &[&project]);
        found.sort();
        assert_eq!(
            found,
            [".git", "bare.git", "docs/guide.md", "scripts/hooks"].map(|name| project.join(name))
        );
        assert_eq!(find_protected(&project.join("bare.git"), &[&project]), [project.join("bare.git")]);
    }

    #[test]
    fn links_that_lead_elsewhere_through_other_links_get_another_name() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["guide.md", "evil.md"] {
            fs::write(path(name), name).unwrap();
        }
        for (target, name) in [("guide.md", "current"), ("current", "CLAUDE.md"), ("absent", "GEMINI.md")] {
            std::os::unix::fs::symlink(target, path(name)).unwrap();
        }
        let watch = NameWatch::start([directory.path()].into_iter()).unwrap();
        fs::remove_file(path("current")).unwrap();
        std::os::unix::fs::symlink("evil.md", path("current")).unwrap();
        fs::write(path("absent"), "evil").unwrap();
        let renamed: Vec<_> = watch.finish().into_iter().filter_map(|name| name.new_path).collect();
        assert_eq!(renamed, [path("CLAUDE.md.unapproved"), path("GEMINI.md.unapproved")]);
        assert!(!path("CLAUDE.md").exists() && !path("GEMINI.md").exists());
    }

    #[test]
    fn only_lost_access_of_the_owner_is_restored() {
        let directory = tempfile::TempDir::new().unwrap();
        let mode = || directory.path().metadata().unwrap().permissions().mode() & 0o777;
        for (changed, expected) in [(0o755, 0o755), (0o011, 0o711), (0o770, 0o770)] {
            fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
            let watch = NameWatch::start([directory.path()].into_iter()).unwrap();
            fs::set_permissions(directory.path(), fs::Permissions::from_mode(changed)).unwrap();
            watch.finish();
            assert_eq!(mode(), expected);
        }
    }

    #[test]
    fn created_names_and_changed_links_are_put_in_order() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("AGENTS.md"), "mine").unwrap();
        std::os::unix::fs::symlink("AGENTS.md", path("CLAUDE.md")).unwrap();
        std::os::unix::fs::symlink("AGENTS.md", path("GEMINI.md")).unwrap();
        let watch = NameWatch::start([directory.path()].into_iter()).unwrap();
        fs::remove_file(path("CLAUDE.md")).unwrap();
        fs::write(path("CLAUDE.md"), "evil").unwrap();
        fs::remove_file(path("GEMINI.md")).unwrap();
        fs::write(path(".envrc"), "evil").unwrap();
        fs::write(path(".envrc.unapproved"), "mine").unwrap();
        fs::write(path("other"), "fine").unwrap();
        fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o311)).unwrap();
        let created = watch.finish();
        let names: Vec<_> = created.iter().map(|name| (name.path.clone(), name.new_path.clone())).collect();
        assert_eq!(
            names,
            [
                (path(".envrc"), Some(path(".envrc.unapproved-2"))),
                (path("CLAUDE.md"), Some(path("CLAUDE.md.unapproved")))
            ]
        );
        assert_eq!(fs::read_to_string(path("CLAUDE.md")).unwrap(), "mine");
        assert_eq!(fs::read_to_string(path("GEMINI.md")).unwrap(), "mine");
        assert!(!path(".envrc").exists() && path("other").exists());
    }
}
