//! Paths as they are typed.

use std::path::PathBuf;

/// A path with the home folder in the place of `~`.
pub(crate) fn expand_home(typed: &str) -> PathBuf {
    match (typed.strip_prefix("~/"), etcetera::home_dir()) {
        (Some(rest), Ok(home)) => home.join(rest),
        _ => PathBuf::from(typed),
    }
}
