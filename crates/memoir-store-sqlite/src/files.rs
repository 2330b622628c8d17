//! Files next to the database.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Returns a path with a suffix added to its file name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Removes a file that is derived from the database, if it exists. A leftover file is ignored or overwritten later, so
/// a failure is only logged.
pub(super) fn remove_derived_file(path: &Path) {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(path = %path.display(), %error, "could not remove a derived file; it will be overwritten");
        }
        _ => {}
    }
}
