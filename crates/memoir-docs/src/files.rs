//! Expands paths into files: a directory is replaced by the text files in it.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use ignore::WalkBuilder;

use crate::{
    error::{FileFault, LibraryError},
    extract::has_extension,
};

/// Extensions of the text files in a directory. A file whose own path is given may have any extension.
static EXTENSIONS: [&str; 7] = ["md", "markdown", "txt", "text", "html", "htm", "pdf"];

/// Files to add, and the paths that cannot be added.
#[derive(Debug, Default)]
pub struct FileSelection {
    /// Given files, and text files in given directories.
    pub paths: Vec<PathBuf>,
    /// Problems with the other paths.
    pub errors: Vec<LibraryError>,
}

/// Expands `paths`, replacing each directory by the text files in it. Duplicate paths are dropped.
pub fn select_files(paths: &[PathBuf]) -> FileSelection {
    let mut selection = FileSelection::default();
    for path in paths {
        let fault = |reason: FileFault| LibraryError::File { path: path.clone(), reason };
        match fs::metadata(path) {
            Err(error) => selection.errors.push(fault(error.into())),
            Ok(metadata) if metadata.is_dir() => {
                let count_before = selection.paths.len();
                select_texts(path, &mut selection);
                if selection.paths.len() == count_before {
                    selection.errors.push(fault(FileFault::NoTexts { extensions: &EXTENSIONS }));
                }
            }
            Ok(_) => selection.paths.push(path.clone()),
        }
    }
    let mut seen = HashSet::new();
    selection.paths.retain(|file| seen.insert(file.clone()));
    selection
}

/// Adds the text files in a directory and in its subdirectories.
fn select_texts(directory: &Path, selection: &mut FileSelection) {
    let mut walk = WalkBuilder::new(directory);
    // Skip hidden files, but include files that version control ignores: they may well be notes.
    walk.standard_filters(false).hidden(true).follow_links(false).sort_by_file_path(Path::cmp);
    for entry in walk.build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let reason = FileFault::Unlisted(error);
                selection.errors.push(LibraryError::File { path: directory.to_owned(), reason });
                continue;
            }
        };
        let is_text = has_extension(entry.path(), &EXTENSIONS);
        if is_text && entry.file_type().is_some_and(|kind| kind.is_file()) {
            selection.paths.push(entry.into_path());
        }
    }
}
