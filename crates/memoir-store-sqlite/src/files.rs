//! Files next to the database.

use std::{fs, io, path::Path};

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
