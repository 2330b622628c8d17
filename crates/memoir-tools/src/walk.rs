//! Going through the files of the workspace as ripgrep does: what .gitignore leaves out is left out, and no link is followed.

use std::path::{Path, PathBuf};

use ignore::{WalkBuilder, overrides::OverrideBuilder};

use crate::{ToolError, workspace::Inside};

/// A file or folder that was met.
pub(crate) struct Met {
    /// From where the walk began.
    pub(crate) relative: PathBuf,
    pub(crate) is_folder: bool,
    pub(crate) depth: usize,
}

/// Everything below `start`, in order of names; only what matches `glob`, if one is given.
pub(crate) fn walk(
    start: &Inside,
    glob: Option<&str>,
    deepest: Option<usize>,
) -> Result<impl Iterator<Item = Met> + use<>, ToolError> {
    let root = start.real.clone();
    let mut builder = WalkBuilder::new(&root);
    builder
        .follow_links(false)
        .require_git(false)
        .hidden(false)
        .max_depth(deepest)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_name(Ord::cmp);
    if let Some(glob) = glob {
        let wrong = |error: ignore::Error| ToolError::Arguments(format!("\"{glob}\" is no pattern: {error}"));
        let mut overrides = OverrideBuilder::new(&root);
        overrides.add(glob).map_err(wrong)?;
        builder.overrides(overrides.build().map_err(wrong)?);
    }
    // What cannot be read is passed by.
    Ok(builder.build().filter_map(Result::ok).filter_map(move |entry| {
        let relative = entry.path().strip_prefix(&root).ok()?.to_owned();
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        (!relative.as_os_str().is_empty() && !entry.path_is_symlink()).then(|| Met {
            relative,
            is_folder,
            depth: entry.depth(),
        })
    }))
}

/// A path as it is shown, from the workspace.
pub(crate) fn shown(path: &str, relative: &Path) -> String {
    let start = path.trim_end_matches('/');
    match start {
        "." | "" => relative.display().to_string(),
        start => format!("{start}/{}", relative.display()),
    }
}
