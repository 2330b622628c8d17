//! Determines the project that a directory belongs to.

use std::path::{Path, PathBuf};

/// Returns the root of the Git repository that contains `directory`, or `directory` itself.
pub fn find_project(directory: &Path) -> PathBuf {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let root = directory.ancestors().find(|ancestor| ancestor.join(".git").exists()).map(Path::to_owned);
    root.unwrap_or(directory)
}

/// Returns the scope of conversations in `directory`: the path of its project. A directory that no longer exists is its own
/// project, because its conversations are stored under that path.
pub fn find_scope(directory: &Path) -> String {
    let project = if directory.is_dir() { find_project(directory) } else { directory.to_owned() };
    project.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use std::fs;

    use super::find_project;

    #[test]
    fn every_directory_of_a_repository_belongs_to_one_project() {
        let directory = tempfile::TempDir::new().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("repo/.git")).unwrap();
        fs::create_dir_all(root.join("repo/src/deep")).unwrap();
        fs::create_dir_all(root.join("plain/inner")).unwrap();
        assert_eq!(find_project(&root.join("repo/src/deep")), root.join("repo"));
        assert_eq!(find_project(&root.join("plain/inner")), root.join("plain/inner"));
    }
}
