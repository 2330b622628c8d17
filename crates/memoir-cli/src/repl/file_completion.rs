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
/// letters in this order, best first. Files that version control ignores are offered only if nothing else fits, so that
/// a user who types such a name finds it.
pub(super) fn find_files(pattern: &str, directory: &Path) -> Vec<String> {
    let listed = list_visible_files(pattern, directory);
    if !listed.is_empty() {
        return listed;
    }
    let similar = if pattern.is_empty() { Vec::new() } else { find_similar_files(pattern, directory) };
    if similar.is_empty() { list_files(pattern, directory) } else { similar }
}

/// Returns the files and directories whose path starts with `prefix`, without those that version control ignores.
fn list_visible_files(prefix: &str, directory: &Path) -> Vec<String> {
    let (parent, name_prefix) = split_prefix(prefix);
    let root = directory.join(expand_home(parent));
    let walk = WalkBuilder::new(&root)
        .max_depth(Some(1))
        .hidden(!name_prefix.starts_with('.'))
        .require_git(false)
        .build();
    let names = walk.flatten().filter(|entry| entry.depth() == 1).filter_map(|entry| {
        let name = entry.file_name().to_str().filter(|name| printable(name) == *name)?;
        let end = if entry.path().is_dir() { "/" } else { "" };
        name.starts_with(name_prefix).then(|| format!("{parent}{name}{end}"))
    });
    let mut paths: Vec<String> = names.collect();
    paths.sort();
    paths.truncate(MAX_SUGGESTIONS);
    paths.into_iter().map(quote).collect()
}

fn find_similar_files(pattern: &str, directory: &Path) -> Vec<String> {
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

/// Splits the beginning of a path into its directory, with the slash, and the beginning of a name.
fn split_prefix(prefix: &str) -> (&str, &str) {
    prefix.rsplit_once('/').map_or(("", prefix), |(parent, name)| (&prefix[..=parent.len()], name))
}

/// Returns a path as it is written after an `@`.
fn quote(path: String) -> String {
    if path.contains(char::is_whitespace) { format!("\"{path}\"") } else { path }
}

/// Returns the files and directories whose path starts with `prefix`.
pub(super) fn list_files(prefix: &str, directory: &Path) -> Vec<String> {
    let (parent, name_prefix) = split_prefix(prefix);
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
