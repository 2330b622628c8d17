//! Completion of file names.

use std::path::Path;

use fuzzy_matcher::{FuzzyMatcher as _, skim::SkimMatcherV2};
use ignore::WalkBuilder;

use memoir_runtime::printable;

use super::completion::MAX_SUGGESTIONS;
use crate::paths::expand_home;

/// Maximum number of files that are compared with a pattern, so that completion stays fast in large projects.
const MAX_COMPARED: usize = 20_000;

/// Returns the files that a pattern may mean: those whose path starts with it or else, those whose path contains its
/// letters in this order, best first. Files that version control ignores are left out of the latter.
pub(super) fn find_files(pattern: &str, directory: &Path) -> Vec<String> {
    let listed = list_files(pattern, directory);
    if !listed.is_empty() || pattern.is_empty() {
        return listed;
    }
    let matcher = SkimMatcherV2::default().smart_case();
    let walk = WalkBuilder::new(directory).require_git(false).build();
    let paths = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let paths = paths.filter_map(|entry| {
        let path = entry.path().strip_prefix(directory).ok()?.to_str()?.to_owned();
        // A name must not control the terminal.
        (printable(&path) == path).then_some(path)
    });
    let mut matches: Vec<(i64, String)> = paths
        .take(MAX_COMPARED)
        .filter_map(|path| Some((matcher.fuzzy_match(&path, pattern)?, path)))
        .collect();
    matches.sort_by(|(score, path), (other_score, other)| {
        other_score.cmp(score).then_with(|| (path.len(), path).cmp(&(other.len(), other)))
    });
    matches.truncate(MAX_SUGGESTIONS);
    matches.into_iter().map(|(_, path)| quote(path)).collect()
}

/// Returns a path as it is written after an `@`.
fn quote(path: String) -> String {
    if path.contains(char::is_whitespace) { format!("\"{path}\"") } else { path }
}

/// Returns the files and directories whose path starts with `prefix`.
pub(super) fn list_files(prefix: &str, directory: &Path) -> Vec<String> {
    let (parent, name_prefix) =
        prefix.rsplit_once('/').map_or(("", prefix), |(parent, name)| (&prefix[..=parent.len()], name));
    let mut paths: Vec<String> = std::fs::read_dir(directory.join(expand_home(parent)))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok().filter(|name| printable(name) == *name)?;
            // Hidden files need a leading dot. A name with spaces would be read as two words.
            let is_match =
                name.starts_with(name_prefix) && (!name.starts_with('.') || name_prefix.starts_with('.'));
            let end = if entry.path().is_dir() { "/" } else { "" };
            (is_match && !name.contains(char::is_whitespace)).then(|| format!("{parent}{name}{end}"))
        })
        .collect();
    paths.sort();
    paths.truncate(MAX_SUGGESTIONS);
    paths
}
