//! Branches of a conversation. Retrying and editing fork it, and only the current branch is imported.

use std::{collections::HashSet, iter};

/// Returns the path from the root to a leaf. The root is the first ancestor whose parent is missing or
/// already on the path.
pub(crate) fn path_to_leaf<'a>(
    leaf: &'a str,
    parent_of: impl Fn(&'a str) -> Option<&'a str>,
) -> Vec<&'a str> {
    let mut visited = HashSet::new();
    let mut path: Vec<&str> =
        iter::successors(Some(leaf), |id| parent_of(id)).take_while(|id| visited.insert(*id)).collect();
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::path_to_leaf;

    #[test]
    fn path_starts_at_the_root_and_stops_at_cycles() {
        let parents = |id: &str| match id {
            "c" => Some("b"),
            "b" => Some("a"),
            "x" => Some("y"),
            "y" => Some("x"),
            _ => None,
        };
        assert_eq!(path_to_leaf("c", parents), ["a", "b", "c"]);
        assert_eq!(path_to_leaf("x", parents), ["y", "x"]);
        assert_eq!(path_to_leaf("alone", parents), ["alone"]);
    }
}
