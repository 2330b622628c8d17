//! Paths typed by the user.

use std::path::PathBuf;

use memoir_runtime::files;

/// Replaces a leading `~` with the home directory.
pub(crate) fn expand_home(path: &str) -> PathBuf {
    files::expand_home(path, etcetera::home_dir().ok().as_deref())
}
