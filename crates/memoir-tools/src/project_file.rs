//! Files with which a project instructs or configures Memoir: `AGENTS.md`, skills and the project's config.

use std::{
    fs::File,
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use rustix::process::geteuid;

use crate::{ToolError, Workspace, protected::has_protected_name, workspace::ResolvedPath};

/// Why a file of a project is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectFileError {
    /// The file is a link to a file with another purpose. A project could otherwise link to any of the user's files.
    #[error("it is a link to another file")]
    Link,
    /// The file belongs to another user, who could otherwise instruct Memoir from a directory above the project.
    #[error("it belongs to another user")]
    Foreign,
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
}

/// Reads the first `max_bytes` of a text file in `directory`, which is above, in or below the project. The file is
/// opened once, and what is checked is the open file, so that nothing can be put in its place in between.
///
/// # Errors
///
/// Fails if the file is a link to another file, belongs to another user or cannot be read.
pub fn read_project_file(
    project: &Path,
    directory: &Path,
    name: &str,
    max_bytes: u64,
) -> Result<String, ProjectFileError> {
    let file = locate(directory, name)?.open_file()?;
    if !is_trusted(&file, project)? {
        return Err(ProjectFileError::Foreign);
    }
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file").into());
    }
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the names of the files in a directory that is in `directory`, sorted.
pub(crate) fn list_project_directory(directory: &Path, name: &str) -> Result<Vec<String>, ProjectFileError> {
    let entries = locate(directory, name)?.entries()?;
    Ok(entries.into_iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect())
}

fn locate(directory: &Path, name: &str) -> Result<ResolvedPath, ProjectFileError> {
    let workspace = Workspace::new(directory, &[])?;
    let location = workspace.locate_inside(name).map_err(|error| match error {
        ToolError::OutsideWorkspace(_) => ProjectFileError::Link,
        error => io::Error::other(error.to_string()).into(),
    })?;
    // A link may lead to a file with the same purpose beside it, but not to one further down or to a secret.
    let depth = |path: &Path| path.components().count();
    let is_beside = depth(&location.real) == depth(workspace.project()) + depth(Path::new(name));
    let (real_name, name) = (location.real.file_name(), Path::new(name).file_name());
    let has_same_purpose =
        real_name == name || real_name.is_some_and(|name| has_protected_name(Path::new(name)));
    if is_beside && has_same_purpose { Ok(location) } else { Err(ProjectFileError::Link) }
}

/// Returns whether a file belongs to root or to the user. For root, who works in the projects of other users, it may
/// also belong to the owner of the project.
fn is_trusted(file: &File, project: &Path) -> io::Result<bool> {
    let (owner, user) = (file.metadata()?.uid(), geteuid().as_raw());
    Ok(owner == 0
        || owner == user
        || (user == 0 && project.metadata().is_ok_and(|project| project.uid() == owner)))
}
