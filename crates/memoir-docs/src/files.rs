//! Finds the files that paths stand for: files themselves, and the texts in directories.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use ignore::WalkBuilder;

use crate::error::{FileFault, LibraryError};

/// The files that count as texts in a directory. A file that is named explicitly may have any name.
static EXTENSIONS: [&str; 4] = ["md", "markdown", "txt", "text"];

/// The files that some paths stand for, and what could not be read.
#[derive(Debug, Default)]
pub struct FileSelection {
    /// Files that were named, and the texts in directories.
    pub found: Vec<PathBuf>,
    /// What is wrong with the others.
    pub faults: Vec<LibraryError>,
}

/// Returns the files that `paths` stand for, each once.
pub fn select_files(paths: &[PathBuf]) -> FileSelection {
    let mut files = FileSelection::default();
    for path in paths {
        let fault = |reason: FileFault| LibraryError::File { path: path.clone(), reason };
        match fs::metadata(path) {
            Err(error) => files.faults.push(fault(error.into())),
            Ok(kind) if kind.is_dir() => {
                let before = files.found.len();
                select_texts(path, &mut files);
                if files.found.len() == before {
                    files.faults.push(fault(FileFault::NoTexts { extensions: &EXTENSIONS }));
                }
            }
            Ok(_) => files.found.push(path.clone()),
        }
    }
    let mut seen = HashSet::new();
    files.found.retain(|file| seen.insert(file.clone()));
    files
}

/// Adds the texts in a directory and in its subdirectories.
fn select_texts(folder: &Path, files: &mut FileSelection) {
    let mut walk = WalkBuilder::new(folder);
    // Hidden files are not meant; files that version control ignores may be.
    walk.standard_filters(false).hidden(true).follow_links(false).sort_by_file_path(Path::cmp);
    for entry in walk.build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let reason = FileFault::Unlisted(error);
                files.faults.push(LibraryError::File { path: folder.to_owned(), reason });
                continue;
            }
        };
        let is_text = entry
            .path()
            .extension()
            .is_some_and(|extension| EXTENSIONS.iter().any(|text| extension.eq_ignore_ascii_case(text)));
        if is_text && entry.file_type().is_some_and(|kind| kind.is_file()) {
            files.found.push(entry.into_path());
        }
    }
}
