//! Checks that actions were performed often enough for a test to be meaningful.

/// Describes the first count that is below its minimum. Takes a name, a count and a minimum for each.
pub(super) fn find_shortfall(counts: impl IntoIterator<Item = (String, usize, usize)>) -> Option<String> {
    let (name, count, minimum) = counts.into_iter().find(|(_, count, minimum)| count < minimum)?;
    Some(format!("{name}: {count}, but at least {minimum} were expected"))
}
