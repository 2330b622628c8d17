//! Going through the files of the workspace as ripgrep does: what .gitignore leaves out is left out, and no link is followed.

use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use ignore::WalkBuilder;

use crate::{ToolError, workspace::WorkspacePath};

/// A file or folder that was met.
pub(crate) struct WalkEntry {
    /// From where the walk began.
    pub(crate) relative: PathBuf,
    pub(crate) is_folder: bool,
    pub(crate) depth: usize,
}

/// Everything below `start`, in order of names: folders, and files whose names match `glob`, if one is given. What is neither, such
/// as a pipe, is passed by.
pub(crate) fn walk(
    start: &WorkspacePath,
    glob: Option<&str>,
    deepest: Option<usize>,
) -> Result<impl Iterator<Item = WalkEntry> + use<>, ToolError> {
    let wanted = glob.map(matcher).transpose()?;
    let root = start.real.clone();
    let mut builder = WalkBuilder::new(&root);
    builder
        .follow_links(false)
        .require_git(false)
        .hidden(false)
        .max_depth(deepest)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_name(Ord::cmp);
    // Entries that cannot be read are skipped, as ripgrep does.
    let skip = |error: &ignore::Error| tracing::debug!(%error, "an entry was skipped");
    Ok(builder.build().filter_map(move |entry| entry.inspect_err(skip).ok()).filter_map(move |entry| {
        let relative = entry.path().strip_prefix(&root).ok()?.to_owned();
        let kind = entry.file_type()?;
        let wanted =
            kind.is_dir() || (kind.is_file() && wanted.as_ref().is_none_or(|wanted| wanted(&relative)));
        (wanted && !relative.as_os_str().is_empty()).then(|| WalkEntry {
            relative,
            is_folder: kind.is_dir(),
            depth: entry.depth(),
        })
    }))
}

/// Whether a file matches a pattern: one without a slash is about the name alone.
fn matcher(pattern: &str) -> Result<impl Fn(&Path) -> bool + use<>, ToolError> {
    let glob = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| ToolError::Arguments(format!("\"{pattern}\" is no pattern: {error}")))?
        .compile_matcher();
    let by_name = !pattern.contains('/');
    Ok(move |path: &Path| match path.file_name().filter(|_| by_name) {
        Some(name) => glob.is_match(name),
        None => glob.is_match(path),
    })
}

/// A path as it is shown, from the workspace.
pub(crate) fn display_path(path: &str, relative: &Path) -> String {
    let start = path.trim_end_matches('/');
    match start {
        "." | "" => relative.display().to_string(),
        start => format!("{start}/{}", relative.display()),
    }
}
