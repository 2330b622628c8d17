//! A change to a text, shown line by line.

use similar::TextDiff;

/// More of a change than this is not shown.
const LONGEST: usize = 20_000;

/// The difference between two texts, as `diff -u` gives it.
pub(crate) fn diff(path: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let text = diff.unified_diff().context_radius(3).header(path, path).to_string();
    match text.is_empty() {
        true => format!("{path} stays as it is\n"),
        false => crate::output::cap(&text, LONGEST),
    }
}

/// How many lines a change adds and takes away.
pub(crate) fn size(before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    format!("+{} -{}", count(similar::ChangeTag::Insert), count(similar::ChangeTag::Delete))
}
