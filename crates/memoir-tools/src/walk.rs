//! Directory traversal like ripgrep's: files in `.gitignore` are skipped and symbolic links are not followed.

use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use ignore::WalkBuilder;

use crate::{DeniedPaths, ToolError, workspace::ResolvedPath};

/// A file or directory.
pub(crate) struct WalkEntry {
    /// Path relative to the starting directory.
    pub(crate) relative: PathBuf,
    pub(crate) is_directory: bool,
    pub(crate) depth: usize,
}

/// Returns all directories below `start`, and all files that match `glob` if there is one, sorted by name. Anything
/// else, such as a pipe, is skipped, and so are the paths that a rule denies.
pub(crate) fn walk(
    start: &ResolvedPath,
    glob: Option<&str>,
    max_depth: Option<usize>,
    denied: Option<DeniedPaths>,
) -> Result<impl Iterator<Item = WalkEntry> + use<>, ToolError> {
    let matches_glob = glob.map(matcher).transpose()?;
    let start = start.clone();
    let mut builder = WalkBuilder::new(&start.real);
    builder
        .follow_links(false)
        .require_git(false)
        .hidden(false)
        .max_depth(max_depth)
        .filter_entry(move |entry| {
            entry.file_name() != ".git" && denied.as_ref().is_none_or(|denies| !denies(entry.path()))
        })
        .sort_by_file_name(Ord::cmp);
    // Like ripgrep, skip entries that cannot be read.
    let log_skipped = |error: &ignore::Error| tracing::debug!(%error, "skipped a directory entry");
    Ok(builder.build().filter_map(move |entry| entry.inspect_err(log_skipped).ok()).filter_map(
        move |entry| {
            let relative = entry.path().strip_prefix(&start.real).ok()?.to_owned();
            let kind = entry.file_type()?;
            let is_match = kind.is_dir()
                || (kind.is_file() && matches_glob.as_ref().is_none_or(|matches| matches(&relative)));
            // If a link has replaced a directory since, the walk may have left the workspace.
            let is_inside =
                || start.below(&relative).metadata().is_ok_and(|found| found.is_dir() == kind.is_dir());
            (is_match && !relative.as_os_str().is_empty() && is_inside()).then(|| WalkEntry {
                relative,
                is_directory: kind.is_dir(),
                depth: entry.depth(),
            })
        },
    ))
}

/// Returns a function that matches paths against a pattern. A pattern without a slash is matched against the file name
/// only.
fn matcher(pattern: &str) -> Result<impl Fn(&Path) -> bool + use<>, ToolError> {
    let glob = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| ToolError::Arguments(format!("\"{pattern}\" is not a valid pattern: {error}")))?
        .compile_matcher();
    let matches_name_only = !pattern.contains('/');
    Ok(move |path: &Path| match path.file_name().filter(|_| matches_name_only) {
        Some(name) => glob.is_match(name),
        None => glob.is_match(path),
    })
}

/// Joins a path argument and a path below it for display.
pub(crate) fn display_path(path: &str, relative: &Path) -> String {
    let start = path.trim_end_matches('/');
    match start {
        "." | "" => relative.display().to_string(),
        start => format!("{start}/{}", relative.display()),
    }
}
