//! Whether things were done often enough to tell anything: of a loop that does nothing, all that is said holds.

/// The first of some counts that is too low. Each comes with what is counted, and with how many there must be at least.
pub(super) fn too_little(counts: impl IntoIterator<Item = (String, usize, usize)>) -> Option<String> {
    let (what, count, least) = counts.into_iter().find(|(_, count, least)| count < least)?;
    Some(format!("{what}: {count}, and at least {least} were to be expected"))
}
