//! Which project a conversation belongs to.

use std::path::{Path, PathBuf};

/// The nearest directory above `directory` that holds a repository, or `directory` itself.
pub fn project_of(directory: &Path) -> PathBuf {
    let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let root = real.ancestors().find(|ancestor| ancestor.join(".git").exists()).map(Path::to_owned);
    root.unwrap_or(real)
}

/// Returns the scope of the conversations in `directory`: its project. A directory that no longer exists is its own project,
/// because its conversations are still stored under that name.
pub fn scope_of(directory: &Path) -> String {
    let project = if directory.is_dir() { project_of(directory) } else { directory.to_owned() };
    project.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use std::fs;

    use super::project_of;

    #[test]
    fn a_repository_is_one_project_from_wherever_it_is_entered() {
        let directory = tempfile::TempDir::new().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("repo/.git")).unwrap();
        fs::create_dir_all(root.join("repo/src/deep")).unwrap();
        fs::create_dir_all(root.join("plain/inner")).unwrap();
        assert_eq!(project_of(&root.join("repo/src/deep")), root.join("repo"));
        assert_eq!(project_of(&root.join("plain/inner")), root.join("plain/inner"));
    }
}
