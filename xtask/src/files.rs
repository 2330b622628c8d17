//! Lists the files that the checks read.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::ChoreError;

/// Returns the files under `directory` with this extension, sorted. Build output is skipped.
pub(crate) fn list_files(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, ChoreError> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).map_err(|error| ChoreError::file(&directory, error))? {
            let path = entry.map_err(|error| ChoreError::file(&directory, error))?.path();
            if path.is_dir() {
                if !path.ends_with("target") && !path.ends_with(".git") {
                    directories.push(path);
                }
            } else if path.extension().is_some_and(|other| other == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Result<String, ChoreError> {
    fs::read_to_string(path).map_err(|error| ChoreError::file(path, error))
}
