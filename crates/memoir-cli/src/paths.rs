//! Paths as they are typed.

use std::path::PathBuf;

use memoir_runtime::files;

/// A path with the home folder in the place of `~`.
pub(crate) fn expand_home(typed: &str) -> PathBuf {
    files::expand_home(typed, etcetera::home_dir().ok().as_deref())
}
