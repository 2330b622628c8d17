//! Determines the project that a directory belongs to.

use std::{
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// Returns the root of the Git repository that contains `directory`, or `directory` itself. A repository that contains
/// the user's home does not count: tools would otherwise have access to all of it. One that belongs to another user
/// than `directory` and its own user does not count either: anyone can create one in a shared directory.
pub fn find_project(directory: &Path, user_home: Option<&Path>) -> PathBuf {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let user_home = user_home.and_then(|home| home.canonicalize().ok());
    let is_root = |ancestor: &&Path| {
        has_own_repository(ancestor, &directory)
            && !user_home.as_ref().is_some_and(|home| home.starts_with(ancestor))
    };
    let root = directory.ancestors().find(is_root).map(Path::to_owned);
    root.unwrap_or(directory)
}

/// Returns whether there is a repository in `directory` that belongs to this user, to root or to the owner of `start`.
fn has_own_repository(directory: &Path, start: &Path) -> bool {
    let Ok(repository) = directory.join(".git").metadata() else { return false };
    let owner = repository.uid();
    [0, rustix::process::geteuid().as_raw()].contains(&owner)
        || start.metadata().is_ok_and(|start| start.uid() == owner)
}

/// Returns the scope of conversations in `directory`: the path of its project. A directory that no longer exists is its own
/// project, because its conversations are stored under that path.
pub fn find_scope(directory: &Path, user_home: Option<&Path>) -> String {
    let project = if directory.is_dir() { find_project(directory, user_home) } else { directory.to_owned() };
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
        assert_eq!(find_project(&root.join("repo/src/deep"), None), root.join("repo"));
        assert_eq!(find_project(&root.join("plain/inner"), None), root.join("plain/inner"));
        for home in ["repo", "repo/src"] {
            let (home, deep) = (root.join(home), root.join("repo/src/deep"));
            assert_eq!(find_project(&deep, Some(&home)), deep, "the repository contains the home");
        }
        assert_eq!(find_project(&root.join("repo/src"), Some(&root)), root.join("repo"));
    }
}
